import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { copyText } from '../../lib/browser';
import { kindColour } from '../../lib/colours';
import { tame } from '../../lib/names';
import { theme } from '../../model/state';
import { KINDS, type Kind, type Problem } from '../../model/wire';

export function Name({ name }: { name: string | null }): JSX.Element {
  if (name === null || name === '') return <span class="muted">—</span>;
  return (
    <span class="name" title={name}>
      {tame(name)}
    </span>
  );
}

/** A number with a bar of its share behind it, in the colour of a kind or in a colour. */
export function ShareBar(props: { share: number; text: string; kind?: Kind; colour?: string }): JSX.Element {
  const { share, text, kind } = props;
  const width = `${Math.max(0, Math.min(100, share))}%`;
  const background = props.colour ?? (kind && kindColour(kind, theme.value));
  return (
    <span class="share">
      <span class="share-bar" style={{ width, background }} />
      <span class="share-text">{text}</span>
    </span>
  );
}

export function Swatch({ kind }: { kind: string }): JSX.Element {
  const known = (KINDS as readonly string[]).includes(kind) ? (kind as Kind) : 'other';
  return (
    <span
      class={known === 'idle' ? 'swatch hatched' : 'swatch'}
      style={{ background: kindColour(known, theme.value) }}
    />
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async () => {
    setSaid((await copyText(text)) ? 'Copied' : 'Not allowed here');
    setTimeout(() => setSaid(''), 1600);
  };
  return (
    <button type="button" class="quiet" onClick={copy} aria-live="polite">
      {said || label}
    </button>
  );
}

/** What a row is called, with a button that copies it; the click is the button's alone. */
export function Copyable({ text, children }: { text: string; children: ComponentChildren }): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async (event: MouseEvent) => {
    event.stopPropagation();
    setSaid((await copyText(text)) ? 'Copied' : 'Not allowed here');
    setTimeout(() => setSaid(''), 1600);
  };
  return (
    <span class="name-cell">
      {children}
      <button type="button" class="copy" aria-label={said || 'Copy'} title={said || 'Copy'} onClick={copy}>
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
          {said === 'Copied' ? (
            <path d="M1.5 6.5l3 3 6-7" fill="none" stroke="currentColor" stroke-width="1.5" />
          ) : (
            <path d="M4 1.5h6.5V8M1.5 4H8v6.5H1.5z" fill="none" stroke="currentColor" />
          )}
        </svg>
      </button>
    </span>
  );
}

export function ProblemBox({ problem, children }: { problem: Problem; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="problem" role="alert" data-testid="problem">
      <p class="problem-message">{problem.message}</p>
      {problem.where && <p class="mono muted">{problem.where}</p>}
      {problem.hint && <p>{problem.hint}</p>}
      {children}
    </div>
  );
}

export function Busy({ what }: { what: string }): JSX.Element {
  return (
    <p class="busy" role="status">
      {what}
    </p>
  );
}

export function Section(props: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
  class?: string;
}): JSX.Element {
  return (
    <section class={props.class ? `panel ${props.class}` : 'panel'} id={props.id}>
      <header>
        <h2>{props.title}</h2>
        {props.aside && <div class="aside">{props.aside}</div>}
      </header>
      <div class="panel-body">{props.children}</div>
    </section>
  );
}

export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: { value: T; label: string; help?: string }[];
  onChange: (value: T) => void;
}): JSX.Element {
  return (
    <fieldset class="choice" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          type="button"
          key={option.value}
          title={option.help}
          aria-pressed={option.value === props.value}
          onClick={() => props.onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
