import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { keyOf, useRemote, useSource } from '../../model/remote';
import type { Parameters, Source, Subject } from '../../model/source';
import { type Answer, flameOfAnswer, type Picture, pictureOf, zoomQuestion } from '../../model/stack_zoom';
import { type Flame, resolve, stacksQuestion } from '../../model/stacks';
import { flameForm, flameLeast, flameQuery, flameWeight, flameZoom, info, subject } from '../../model/state';
import type { Problem } from '../../model/wire';

const TYPING_MS = 250;

/** A value once it has stayed for a while. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Where the device has nothing to do, “automatic” is the time of the host, of a part of the time as of all. */
async function read(source: Source, of: Subject, asked: Parameters, signal: AbortSignal): Promise<Answer> {
  const table = await source.view(of, 'stacks', asked, signal);
  const other = asked.weight === 'auto' && (info.peek()?.devices.length ?? 0) > 0 && resolve(table, 'auto') === 'host';
  return other ? read(source, of, { ...asked, weight: 'host' }, signal) : { asked, table };
}

interface Stacks {
  /** The answer to what is asked now. */
  answer: Answer | null;
  problem: Problem | null;
  busy: boolean;
}

/** Stacks as they are asked for; null asks nothing. */
export function useStacks(asked: Parameters | null): Stacks {
  const source = useSource();
  const of = subject.value;
  const key = of && asked && keyOf(of, 'stacks', asked);
  const { data, problem } = useRemote(key, async (signal) => ({
    key,
    answer: await read(source, of as Subject, asked as Parameters, signal),
  }));
  const answer = key !== null && data?.key === key ? data.answer : null;
  return { answer, problem, busy: key !== null && answer === null && problem === null };
}

export interface Shown {
  /** All stacks as they were asked for; null until they are there. */
  whole: Flame | null;
  picture: Picture | null;
  /** Whether the picture is one of what is asked for now, and not of what was before. */
  current: boolean;
  /** What the stacks are searched for. */
  query: string;
  problem: Problem | null;
  busy: boolean;
}

/** The picture of the stacks: the one before stays until there is a better one. */
export function useShown(): Shown {
  const query = useSettled(flameQuery.value.trim());
  const asked = {
    ...stacksQuestion(),
    form: flameForm.value,
    weight: flameWeight.value,
    min_share_pct: flameLeast.value,
    find: query || null,
  };
  const zoom = flameZoom.value;
  const all = useStacks(asked);
  const part = useStacks(zoom && zoomQuestion(asked, zoom));
  const whole = useMemo(() => all.answer && flameOfAnswer(all.answer, null), [all.answer]);
  const fine = useMemo(() => part.answer && flameOfAnswer(part.answer, zoom), [part.answer]);
  const before = useRef<Picture | null>(null);
  const of = subject.value;
  const base = of ? keyOf(of, asked) : '';
  const picture = pictureOf({ base, zoom, whole, fine, before: before.current });
  before.current = picture;
  return {
    whole,
    picture,
    current: picture?.base === base,
    query,
    problem: all.problem ?? part.problem,
    busy: all.busy || part.busy || query !== flameQuery.value.trim(),
  };
}
