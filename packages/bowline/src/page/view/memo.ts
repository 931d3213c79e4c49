/** A component that is drawn again only when one of its props is another. */
import { Component, type ComponentChild, type ComponentClass } from "preact";

export function memo<P extends object>(draw: (props: P) => ComponentChild): ComponentClass<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const names = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof P>;
      return [...names].some((name) => (this.props as P)[name] !== next[name]);
    }

    override render(props: P): ComponentChild {
      return draw(props);
    }
  };
}
