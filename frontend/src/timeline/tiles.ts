/** Fetches tiles three windows wide, keeps those already read, and finds the best one for a row. */
import { isAbort, type Source, type Subject } from '../model/source';
import type { Range } from '../model/state';
import { decodeTile, rowRanges, type Tile } from '../model/tile';
import { FLAG_MERGED } from '../model/wire';
import type { Slice } from './painter';

const KEPT_BYTES = 64 * 2 ** 20;
const IN_FLIGHT = 2;
const ZOOM_DEBOUNCE_MS = 60;

/** What a request asks for: a window of rows at a resolution, in nanoseconds per pixel. */
interface Plan extends Range {
  rows: Set<number>;
  resolution: number;
}

interface Held extends Plan {
  tile: Tile;
  /** Nothing in it was merged: no closer look tells more. */
  complete: boolean;
}

export interface Wanted {
  rows: number[];
  view: Range;
  width: number;
}

export class TileStore {
  private held: Held[] = [];
  private flying = new Map<AbortController, Plan>();
  private next: Wanted | null = null;
  private timer = 0;
  private span = 0;

  constructor(
    private readonly source: Source,
    private readonly of: Subject,
    private readonly end: number,
    private readonly on: { arrived: () => void; failed: (error: unknown) => void },
  ) {}

  /** Asks for what the picture needs, and rows `around` it, unless a held tile has it. */
  want(wanted: Wanted, around: number[]): void {
    if (wanted.rows.length === 0 || wanted.width <= 0) return;
    if (this.covers(wanted)) {
      this.next = null;
      return;
    }
    const span = wanted.view.t1 - wanted.view.t0;
    const zoomed = Math.abs(span / (this.span || span) - 1) > 0.001;
    this.span = span;
    this.next = { ...wanted, rows: around };
    clearTimeout(this.timer);
    if (zoomed) this.timer = window.setTimeout(() => this.launch(), ZOOM_DEBOUNCE_MS);
    else this.launch();
  }

  get busy(): boolean {
    return this.flying.size > 0 || this.next !== null;
  }

  /** The slice of a row from the tile that shows most of the view, and that most finely. */
  slice(row: number, view: Range): Slice | null {
    let best: Held | null = null;
    let most = 0;
    for (const held of this.held) {
      if (!held.rows.has(row)) continue;
      const overlap = Math.min(view.t1, held.tile.t1) - Math.max(view.t0, held.tile.t0);
      const share = Math.round((100 * overlap) / (view.t1 - view.t0));
      if (share <= 0) continue;
      if (share > most || (share === most && best && held.resolution < best.resolution)) {
        best = held;
        most = share;
      }
    }
    if (!best) return null;
    return { tile: best.tile, ...(best.tile.rows.get(row) ?? { offset: 0, count: 0 }) };
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const control of this.flying.keys()) control.abort();
    this.flying.clear();
    this.held = [];
    this.next = null;
  }

  private covers(wanted: Wanted): boolean {
    const planned = [...this.flying.values()].some((plan) => this.satisfies(plan, false, wanted));
    return planned || this.held.some((held) => this.satisfies(held, held.complete, wanted));
  }

  private satisfies(plan: Plan, complete: boolean, { rows, view, width }: Wanted): boolean {
    const wide = plan.t0 <= Math.max(0, view.t0) && plan.t1 >= Math.min(this.end, Math.floor(view.t1));
    const fine = complete || plan.resolution <= (2 * (view.t1 - view.t0)) / width;
    return wide && fine && rows.every((row) => plan.rows.has(row));
  }

  private plan({ rows, view, width }: Wanted): Plan {
    const span = view.t1 - view.t0;
    const t0 = Math.max(0, Math.floor(view.t0 - span));
    const t1 = Math.max(t0 + 1, Math.min(this.end, Math.ceil(view.t1 + span)));
    return { rows: new Set(rows), t0, t1, resolution: span / width };
  }

  private launch(): void {
    const wanted = this.next;
    if (!wanted || this.flying.size >= IN_FLIGHT) return;
    this.next = null;
    const plan = this.plan(wanted);
    const control = new AbortController();
    this.flying.set(control, plan);
    this.fetch(plan, control.signal)
      .catch((error) => {
        if (!isAbort(error)) this.on.failed(error);
      })
      .finally(() => {
        this.flying.delete(control);
        this.launch();
      });
  }

  private async fetch(plan: Plan, signal: AbortSignal): Promise<void> {
    const { t0, t1 } = plan;
    const px = Math.max(1, Math.round((t1 - t0) / plan.resolution));
    const buffer = await this.source.tile(this.of, { rows: rowRanges([...plan.rows]), t0, t1 }, px, signal);
    if (signal.aborted) return;
    const tile = decodeTile(buffer);
    const complete = !tile.flags.some((flags) => (flags & FLAG_MERGED) !== 0);
    this.held.push({ ...plan, tile, complete });
    let bytes = this.held.reduce((sum, held) => sum + held.tile.bytes, 0);
    while (bytes > KEPT_BYTES && this.held.length > 1) bytes -= this.held.shift()?.tile.bytes ?? 0;
    this.on.arrived();
  }
}
