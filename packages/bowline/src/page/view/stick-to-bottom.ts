/** Keeps the end in sight while more comes, unless the reader went up. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** So near to the end counts as being there, in pixels. */
const NEAR = 48;

export interface Sticky {
  readonly scroller: { current: HTMLDivElement | null };
  readonly content: { current: HTMLDivElement | null };
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
}

/** `subject` is what is read: with another one it begins at the end again. */
export function useStickToBottom(subject: string): Sticky {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);
  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (outer === null || inner === null) return undefined;
    let lastTop = outer.scrollTop;
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR;
      // What grows moves the end away without anybody going up.
      if (isNear || outer.scrollTop < lastTop) stuck.current = isNear;
      lastTop = outer.scrollTop;
      setAtEnd(isNear || stuck.current);
    };
    const observer = new ResizeObserver(() => {
      if (stuck.current) outer.scrollTop = outer.scrollHeight;
      else onScroll();
    });
    observer.observe(inner);
    observer.observe(outer);
    outer.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener("scroll", onScroll);
    };
  }, []);
  useEffect(toEnd, [subject, toEnd]);
  return { scroller, content, isAtEnd, toEnd };
}
