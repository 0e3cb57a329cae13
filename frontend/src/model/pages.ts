/** Which pages have something to show. */
import type { Info, PageName } from './wire';

export interface PageState {
  available: boolean;
  /** Why there is nothing, or not all. */
  reason: string;
  /** Of idle time, the critical path alone: it needs no device. */
  pathOnly: boolean;
}

export function pageState(info: Info | null, page: PageName): PageState {
  const told = info?.pages[page];
  if (told?.available !== false) return { available: true, reason: '', pathOnly: false };
  const pathOnly = page === 'idle' && info?.pages.operators?.available === true;
  return { available: pathOnly, reason: told.reason, pathOnly };
}
