/** Creates a component that is redrawn only when a prop changes. */
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
