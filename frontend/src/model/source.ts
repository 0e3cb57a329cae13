import type {
  Area,
  CriticalPath,
  EventDetail,
  Info,
  Lanes,
  Longest,
  Minimap,
  Names,
  Neighbor,
  Problem,
  Runs,
  SearchResult,
  Session,
  Table,
} from './wire';

export type Parameters = Record<string, string | number | null | undefined>;

/** What is asked about: a trace as it was recorded, or with fixes (`durations`, `clock` or `durations,clock`). */
export interface Subject {
  trace: string;
  fix: string | null;
}

/** A window of rows, as tile and area take it. `rows` is a list of ranges: `0-4,7`. */
export interface Window {
  rows: string;
  t0: number;
  t1: number;
}

/** All the app reads goes through here: a server today, data inside a report file later. */
export interface Source {
  runs(refresh: boolean, signal?: AbortSignal): Promise<Runs>;
  session(trace: string, signal?: AbortSignal): Promise<Session>;
  cancel(trace: string): Promise<void>;
  reload(trace: string): Promise<void>;
  info(of: Subject, signal?: AbortSignal): Promise<Info>;
  view(of: Subject, view: string, parameters: Parameters, signal?: AbortSignal): Promise<Table>;
  lanes(of: Subject, signal?: AbortSignal): Promise<Lanes>;
  names(of: Subject, signal?: AbortSignal): Promise<Names>;
  tile(of: Subject, window: Window, px: number, signal?: AbortSignal): Promise<ArrayBuffer>;
  longest(of: Subject, entry: number, count: number, signal?: AbortSignal): Promise<Longest>;
  event(of: Subject, id: number, signal?: AbortSignal): Promise<EventDetail>;
  neighbor(of: Subject, id: number, by: 1 | -1, signal?: AbortSignal): Promise<Neighbor>;
  search(of: Subject, text: string, exact: boolean, signal?: AbortSignal): Promise<SearchResult>;
  area(of: Subject, window: Window, signal?: AbortSignal): Promise<Area>;
  path(of: Subject, range: { t0: number; t1: number }, px: number, signal?: AbortSignal): Promise<CriticalPath>;
  minimap(of: Subject, px: number, signal?: AbortSignal): Promise<Minimap>;
}

/** A failed read, with the problem as the backend told it. */
export class SourceError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
    this.name = 'SourceError';
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function toProblem(error: unknown): Problem {
  if (error instanceof SourceError) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'page', message, hint: '', where: '' };
}
