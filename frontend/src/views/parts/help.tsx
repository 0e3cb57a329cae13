import type { ComponentChildren, JSX } from 'preact';

/** A term with its one-line definition, for mouse and screen reader. */
export function Help({ text, children }: { text: string; children: ComponentChildren }): JSX.Element {
  return (
    <span class="term" title={text}>
      {children}
    </span>
  );
}
