import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

interface TabsProps<T extends string> {
  /** Name of the page in the ids of its tabs. */
  id: string;
  label: string;
  parts: readonly T[];
  words: Record<T, { title: string; help: string }>;
  value: T;
  onPick: (part: T) => void;
}

/** Parts of a page; the arrow keys go from one to the next. The panel is `#<id>-panel`. */
export function Tabs<T extends string>({ id, label, parts, words, value, onPick }: TabsProps<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = (parts.indexOf(value) + by + parts.length) % parts.length;
    onPick(parts[at]);
    (box.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={box} onKeyDown={onKeyDown}>
      {parts.map((part) => (
        <button
          key={part}
          type="button"
          role="tab"
          id={`${id}-tab-${part}`}
          data-testid={`tab-${part}`}
          aria-selected={value === part}
          aria-controls={`${id}-panel`}
          tabIndex={value === part ? 0 : -1}
          title={words[part].help}
          onClick={() => onPick(part)}
        >
          {words[part].title}
        </button>
      ))}
    </div>
  );
}
