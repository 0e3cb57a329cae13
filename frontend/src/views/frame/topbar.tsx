import type { JSX } from 'preact';
import { duration, fileSize, instant } from '../../lib/format';
import { runLabel } from '../../lib/names';
import * as state from '../../model/state';
import type { PageName, Rank } from '../../model/wire';
import { SearchCount } from '../../timeline/search_view';
import { type Option, Picker } from '../parts/picker';
import { FixSwitches } from './fixes';

export function TopBar(): JSX.Element {
  const now = state.chosen.value;
  return (
    <header class="topbar">
      {now && <Pickers now={now} />}
      <FilterChip />
      <FixSwitches />
      <span class="filler" />
      {state.info.value && <SearchBox />}
      <button
        type="button"
        class="icon"
        aria-label="Help and keyboard shortcuts"
        title="Help (?)"
        onClick={() => (state.helpOpen.value = true)}
      >
        ?
      </button>
    </header>
  );
}

function Pickers({ now }: { now: state.Chosen }): JSX.Element {
  const list = state.runs.value?.runs ?? [];
  const logdir = state.runs.value?.logdir ?? '';
  return (
    <>
      <Picker
        testId="picker-run"
        label="Run"
        value={now.run.name}
        options={list.map((one) => ({ value: one.name, label: runLabel(one.name, logdir) }))}
        onPick={(value) => state.choose({ run: value })}
      />
      <Picker
        testId="picker-rank"
        label="Rank"
        value={now.rank.label}
        options={now.run.ranks.map(rankOption)}
        onPick={(value) => state.choose({ rank: value })}
      />
      <Picker
        testId="picker-span"
        label="Span"
        value={now.span.span}
        options={now.rank.spans.map((one) => ({
          value: one.span,
          label: one.span,
          detail: `${one.file}, ${fileSize(one.bytes)}`,
        }))}
        onPick={(value) => state.choose({ span: value })}
      />
    </>
  );
}

/** The picker says “Rank” already. */
function rankOption({ label, worker }: Rank): Option {
  const short = label.replace(/^rank (?=\d)/, '');
  return { value: label, label: short, detail: worker === label ? undefined : worker };
}

function FilterChip(): JSX.Element | null {
  const range = state.filter.value;
  if (!range) return null;
  const told = `${instant(range.t0, 1e5)} – ${instant(range.t1, 1e5)}`;
  const show = () => state.showInTimeline(range.t0, range.t1 - range.t0, null, 0.02);
  return (
    <span class="chip" data-testid="filter-chip">
      <button type="button" title={`${told}: show in the timeline`} onClick={show}>
        {range.step === null ? told : `Step ${range.step}`}, {duration(range.t1 - range.t0)}
      </button>
      <button
        type="button"
        aria-label="Clear the time range"
        title="Show the whole recording again"
        onClick={() => (state.filter.value = null)}
      >
        ✕
      </button>
    </span>
  );
}

const SEARCHES: Record<PageName, { atom: typeof state.eventQuery; hint: string }> = {
  overview: { atom: state.eventQuery, hint: 'Find events' },
  timeline: { atom: state.eventQuery, hint: 'Find events' },
  idle: { atom: state.gapQuery, hint: 'Filter idle time, -word excludes' },
  kernels: { atom: state.kernelQuery, hint: 'Filter kernels, -word excludes' },
  operators: { atom: state.operatorQuery, hint: 'Filter operators, -word excludes' },
  modules: { atom: state.moduleQuery, hint: 'Filter modules, -word excludes' },
  memory: { atom: state.memoryQuery, hint: 'Filter memory, -word excludes' },
  flame: { atom: state.flameQuery, hint: 'Find frames, -word excludes' },
};

function SearchBox(): JSX.Element {
  const page = state.page.value;
  const { atom, hint } = SEARCHES[page];
  const onInput = (text: string) => {
    if (atom === state.eventQuery) state.findEvents(text);
    else atom.value = text;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') (event.currentTarget as HTMLInputElement).blur();
    if (event.key === 'Enter' && page === 'overview' && atom.value) state.go('timeline');
  };
  return (
    <div class="search">
      <input
        type="search"
        data-testid="search-box"
        aria-label={hint}
        placeholder={`${hint}  /`}
        value={atom.value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {page === 'timeline' && <SearchCount />}
    </div>
  );
}
