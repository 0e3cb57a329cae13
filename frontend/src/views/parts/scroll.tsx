import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Padding that is cut is nothing to scroll for. */
const SLACK = 8;

/** Tells the style sheet whether there is more to the right; the edge fades then. */
export function markMore(element: HTMLElement | null): void {
  if (!element) return;
  element.dataset.more = String(element.scrollLeft + element.clientWidth < element.scrollWidth - SLACK);
}

/** A box for a table that may be wider than the window. */
export function ScrollBox({ children }: { children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => markMore(element));
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    markMore(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="table-scroll" ref={box} onScroll={() => markMore(box.current)}>
      {children}
    </div>
  );
}
