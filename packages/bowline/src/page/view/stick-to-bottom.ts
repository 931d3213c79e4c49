/**
 * Keeps the end in sight while more comes, unless the reader went up; then what is read stays where
 * it is.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near to the end counts as being there, in pixels. */
const NEAR = 48;

export interface Sticky {
  readonly scroller: { current: HTMLDivElement | null };
  readonly content: { current: HTMLDivElement | null };
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
}

/**
 * `subject` is what is read: with another one it begins at the end again. `first` is another when
 * more is put before the rest.
 */
export function useStickToBottom(subject: string, first: string | undefined): Sticky {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  /**
   * Where it was seen last, by a scroll of the reader's or one of ours, of which the event may come
   * only with the next.
   */
  const lastTop = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    stuck.current = true;
    setAtEnd(true);
    if (scroller.current === null) return;
    scroller.current.scrollTop = scroller.current.scrollHeight;
    lastTop.current = scroller.current.scrollTop;
  }, []);
  useEffect(() => {
    const [outer, inner] = [scroller.current, content.current];
    if (outer === null || inner === null) return undefined;
    const onScroll = (): void => {
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR;
      // What grows moves the end away without anybody going up.
      if (isNear || outer.scrollTop < lastTop.current) stuck.current = isNear;
      lastTop.current = outer.scrollTop;
      setAtEnd(isNear || stuck.current);
    };
    const observer = new ResizeObserver(() => {
      if (stuck.current) toEnd();
      else onScroll();
    });
    observer.observe(inner);
    observer.observe(outer);
    outer.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      outer.removeEventListener("scroll", onScroll);
    };
  }, [toEnd]);
  useEffect(toEnd, [subject, toEnd]);
  // What is drawn now is still what was there before.
  const firstBefore = useRef(first);
  const read =
    firstBefore.current === first ? null : (content.current?.querySelector(".run") ?? null);
  const endBefore = read?.getBoundingClientRect().bottom ?? 0;
  firstBefore.current = first;
  useLayoutEffect(() => {
    if (stuck.current || read?.isConnected !== true || scroller.current === null) return;
    scroller.current.scrollTop += read.getBoundingClientRect().bottom - endBefore;
  }, [first]);
  return { scroller, content, isAtEnd, toEnd };
}
