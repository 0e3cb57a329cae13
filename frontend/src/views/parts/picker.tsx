import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { wordFilter } from '../../lib/names';
import { OWN_KEYS, stepFocus, usePopup } from './popup';

export interface Option {
  value: string;
  label: string;
  detail?: string;
}

interface PickerProps {
  testId: string;
  label: string;
  value: string;
  options: Option[];
  onPick: (value: string) => void;
}

const SEARCH_FROM = 9;

/** A list to pick from, with a search field where the list is long. */
export function Picker(props: PickerProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const box = usePopup<HTMLDivElement>(open, () => setOpen(false));
  const button = useRef<HTMLButtonElement>(null);
  /** The keys go on from where the list was opened. */
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const shown = props.options.find((option) => option.value === props.value);
  const alone = props.options.length < 2;
  return (
    <div class="picker" ref={box}>
      <span class="picker-label" aria-hidden="true">
        {props.label}
      </span>
      <button
        type="button"
        class="picker-button"
        ref={button}
        data-testid={props.testId}
        aria-haspopup="listbox"
        aria-expanded={open}
        title={shown?.detail ?? shown?.label}
        disabled={alone}
        onClick={() => setOpen(!open)}
      >
        <span class="offscreen">{props.label}: </span>
        <span class="picker-value">{shown?.label ?? '—'}</span>
        {!alone && (
          <span class="muted">
            {' '}
            of {props.options.length} <span aria-hidden="true">▾</span>
          </span>
        )}
      </button>
      {open && <List {...props} close={close} />}
    </div>
  );
}

function List(props: PickerProps & { close: () => void }): JSX.Element {
  const [query, setQuery] = useState('');
  const panel = useRef<HTMLDivElement>(null);
  const passes = wordFilter(query);
  const found = props.options.filter((option) => passes(`${option.label} ${option.detail ?? ''}`));
  useEffect(() => {
    const start =
      panel.current?.querySelector<HTMLElement>('input') ??
      panel.current?.querySelector<HTMLElement>('[aria-selected=true]');
    start?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    const options = [...(panel.current?.querySelectorAll<HTMLElement>('[role=option]') ?? [])];
    // Home and End are the search field's own.
    const moves = ['ArrowDown', 'ArrowUp'].includes(event.key);
    if (event.key === 'Escape') props.close();
    else if (!moves || !stepFocus(event.key, options)) return;
    event.preventDefault();
  };
  const pick = (value: string) => {
    props.onPick(value);
    props.close();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the options inside
    <div class="picker-list" ref={panel} onKeyDown={onKeyDown} {...OWN_KEYS}>
      {props.options.length >= SEARCH_FROM && (
        <input
          type="search"
          aria-label={`Search ${props.label}`}
          placeholder="Search"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      <div role="listbox" aria-label={props.label} tabIndex={-1}>
        {found.map((option) => (
          <Item
            key={option.value}
            option={option}
            testId={`${props.testId}-option`}
            chosen={props.value}
            onPick={pick}
          />
        ))}
        {found.length === 0 && <p class="muted">None matches.</p>}
      </div>
    </div>
  );
}

interface ItemProps {
  option: Option;
  testId: string;
  chosen: string;
  onPick: (value: string) => void;
}

function Item({ option, testId, chosen, onPick }: ItemProps): JSX.Element {
  return (
    <button
      type="button"
      role="option"
      data-testid={testId}
      data-value={option.value}
      aria-selected={option.value === chosen}
      onClick={() => onPick(option.value)}
    >
      <span>{option.label}</span>
      {option.detail && <span class="muted">{option.detail}</span>}
    </button>
  );
}
