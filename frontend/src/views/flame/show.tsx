import { batch } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSource } from '../../model/remote';
import { isAbort, type Subject, toProblem } from '../../model/source';
import { queryOf } from '../../model/stack_events';
import { eventOf, stacksQuestion } from '../../model/stacks';
import {
  type Filter,
  filter,
  filterWords,
  findEvents,
  info,
  type Range,
  showInTimeline,
  subject,
} from '../../model/state';
import type { EventDetail } from '../../model/wire';

/** Host events of a step lie where the host worked on it. */
function hostTime(narrowed: Filter | null): Range | null {
  const step = narrowed && info.peek()?.steps.find((one) => one.step === narrowed.step);
  if (step) return { t0: step.host_start_ns, t1: step.host_end_ns };
  return narrowed && { t0: narrowed.t0, t1: narrowed.t1 };
}

interface ShowProps {
  name: string;
  /** The longest call of the place; null asks for that of the name, wherever it was called from. */
  event: number | null;
}

/** Goes to the longest call of a place; the search has all of its name. */
export function ShowPlace({ name, event }: ShowProps): JSX.Element {
  const source = useSource();
  const [said, setSaid] = useState<string | null>(null);
  const control = useRef<AbortController | null>(null);
  useEffect(() => {
    setSaid(null);
    return () => control.current?.abort();
  }, [name, event]);
  const longest = async (of: Subject, signal: AbortSignal) => {
    const asked = { ...stacksQuestion(), form: 'file', min_share_pct: 100, find: name };
    const id = event ?? eventOf(await source.view(of, 'stacks', asked, signal), name);
    return id === null ? null : source.event(of, id, signal);
  };
  const go = (found: EventDetail | null) => {
    const when = filter.peek();
    setSaid(found ? null : `It has no event of its own${when ? ` ${filterWords(when)}` : ''}.`);
    if (!found) return;
    batch(() => {
      findEvents(queryOf(name, found.name), hostTime(when));
      showInTimeline(found.start_ns, found.duration_ns, { kind: 'event', id: found.id });
    });
  };
  const show = async () => {
    const of = subject.value;
    if (!of) return;
    control.current?.abort();
    control.current = new AbortController();
    const { signal } = control.current;
    setSaid('Looking for its events…');
    try {
      const found = await longest(of, signal);
      if (!signal.aborted) go(found);
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) setSaid(toProblem(error).message);
    }
  };
  return (
    <>
      <button type="button" class="quiet" title="Its longest call" onClick={show}>
        Show in timeline
      </button>
      {said && (
        <span class="muted" role="status" data-testid="show-said">
          {said}
        </span>
      )}
    </>
  );
}
