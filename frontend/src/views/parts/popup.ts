import { useEffect, useRef } from 'preact/hooks';

/** Marks what keeps its keys to itself while it is open. */
export const OWN_KEYS = { 'data-own-keys': true };

export function keepsKeys(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[data-own-keys]') !== null;
}

/** A box that closes when something outside it is pressed, or what it lies in moves. */
export function usePopup<E extends HTMLElement>(open: boolean, close: () => void) {
  const box = useRef<E>(null);
  useEffect(() => {
    if (!open) return;
    const pressed = ({ target }: Event) => {
      if (!(target instanceof Node && box.current?.contains(target))) close();
    };
    const scrolled = ({ target }: Event) => {
      if (target instanceof Node && target.contains(box.current)) close();
    };
    document.addEventListener('pointerdown', pressed);
    document.addEventListener('scroll', scrolled, true);
    window.addEventListener('resize', close);
    return () => {
      document.removeEventListener('pointerdown', pressed);
      document.removeEventListener('scroll', scrolled, true);
      window.removeEventListener('resize', close);
    };
  }, [open]);
  return box;
}

/** Moves the focus among controls by the arrow keys; false where the key means nothing. */
export function stepFocus(key: string, controls: HTMLElement[]): boolean {
  const at = controls.indexOf(document.activeElement as HTMLElement);
  const last = controls.length - 1;
  const next = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), Home: 0, End: last }[key];
  if (next === undefined) return false;
  controls[next]?.focus();
  return true;
}
