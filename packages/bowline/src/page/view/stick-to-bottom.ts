/**
 * Keeps the end in view while text arrives, unless the reader scrolled up. Then the position stays
 * fixed.
 */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Distance to the end that counts as being there, in pixels. */
const NEAR = 48;

export interface Sticky {
  readonly scroller: { current: HTMLDivElement | null };
  readonly content: { current: HTMLDivElement | null };
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
}

/**
 * `subject` is the shown session: a new one starts at the end. `first` changes when earlier
 * messages are inserted.
 */
export function useStickToBottom(subject: string, first: string | undefined): Sticky {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  /**
   * The last scroll position, set by the reader or by us. Our own scroll event may arrive later.
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
      // Growing content moves the end away without any scrolling.
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
  // At this point the DOM still shows the previous render.
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
