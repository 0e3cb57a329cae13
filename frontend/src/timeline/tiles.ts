/** Fetches tiles three windows wide, keeps those already read, and puts together what is known of a row. */
import { isAbort, type Source, type Subject } from '../model/source';
import type { Range } from '../model/state';
import { decodeTile, rowRanges, type Tile, type TileRow } from '../model/tile';
import { FLAG_MERGED } from '../model/wire';
import type { Slice } from './painter';

const KEPT_BYTES = 64 * 2 ** 20;
const IN_FLIGHT = 2;
const ZOOM_DEBOUNCE_MS = 60;
/** Pieces shorter than this part of the view are not looked for. */
const LEAST_PART = 0.001;
const NO_ROW: TileRow = { offset: 0, count: 0, entry: 0, points: { offset: 0, count: 0 } };

/** What a request asks for: a window of rows at a resolution, in nanoseconds per pixel. */
interface Plan extends Range {
  rows: Set<number>;
  resolution: number;
}

interface Held extends Plan {
  tile: Tile;
  /** Nothing in it was merged or rounded: no closer look tells more. */
  complete: boolean;
}

export interface Wanted {
  rows: number[];
  view: Range;
  width: number;
}

/** A stretch of the view with the tile that shows it best; null where nothing is known yet. */
export interface Piece extends Range {
  slice: Slice | null;
}

export class TileStore {
  /** Grows with each tile: the picture is drawn anew. */
  version = 0;
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

  /** Asks for what the picture lacks; once it has all, for the rows `around` it. */
  want(wanted: Wanted, around: number[]): void {
    if (wanted.rows.length === 0 || wanted.width <= 0) return;
    const rows = this.missing(wanted);
    if (rows.length === 0) {
      this.next = null;
      this.readAlong({ ...wanted, rows: around });
      return;
    }
    const span = wanted.view.t1 - wanted.view.t0;
    const zoomed = Math.abs(span / (this.span || span) - 1) > 0.001;
    this.span = span;
    this.next = { ...wanted, rows };
    clearTimeout(this.timer);
    if (zoomed) this.timer = window.setTimeout(() => this.launch(), ZOOM_DEBOUNCE_MS);
    else this.launch();
  }

  /** Rows that a scroll would bring into sight are read while nothing else is. */
  private readAlong(wanted: Wanted): void {
    if (this.flying.size > 0) return;
    const rows = this.missing(wanted);
    if (rows.length === 0) return;
    this.next = { ...wanted, rows };
    this.launch();
  }

  get busy(): boolean {
    return this.flying.size > 0 || this.next !== null;
  }

  /** The slice that shows a time of a row. */
  sliceAt(row: number, time: number, view: Range, width: number): Slice | null {
    return this.pieces(row, view, width).find((piece) => piece.t0 <= time && time <= piece.t1)?.slice ?? null;
  }

  /**
   * What is known of a row, from left to right: fine tiles first, and coarser ones where those end. So an old picture
   * stays until the next comes, and nothing flashes.
   */
  pieces(row: number, view: Range, width: number): Piece[] {
    const needed = (view.t1 - view.t0) / Math.max(1, width);
    const ranked = this.held
      .filter((held) => held.rows.has(row) && held.t0 < view.t1 && held.t1 > view.t0)
      .map((held) => ({ held, rank: rankOf(held, needed) }))
      .sort((a, b) => a.rank - b.rank || covered(b.held, view) - covered(a.held, view));
    const found: Piece[] = [];
    const fill = (t0: number, t1: number, from: number): void => {
      if (t1 - t0 < LEAST_PART * (view.t1 - view.t0)) return;
      const at = ranked.findIndex(({ held }, i) => i >= from && held.t0 < t1 && held.t1 > t0);
      if (at < 0) {
        found.push({ slice: null, t0, t1 });
        return;
      }
      const { held } = ranked[at];
      const begin = Math.max(t0, held.t0);
      const end = Math.min(t1, held.t1);
      fill(t0, begin, at + 1);
      found.push({ slice: { tile: held.tile, ...(held.tile.rows.get(row) ?? NO_ROW) }, t0: begin, t1: end });
      fill(end, t1, at + 1);
    };
    // The recording's end is the end of every tile: nothing comes after it.
    fill(Math.max(0, view.t0), Math.min(this.end, view.t1), 0);
    return found;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const control of this.flying.keys()) control.abort();
    this.flying.clear();
    this.held = [];
    this.next = null;
  }

  private missing(wanted: Wanted): number[] {
    const plans = [...this.flying.values()].filter((plan) => satisfies(plan, false, wanted, this.end));
    plans.push(...this.held.filter((held) => satisfies(held, held.complete, wanted, this.end)));
    return wanted.rows.filter((row) => !plans.some((plan) => plan.rows.has(row)));
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
    const merged = tile.flags.some((flags) => (flags & FLAG_MERGED) !== 0) || tile.points.changes.some((n) => n > 1);
    this.held.push({ ...plan, tile, complete: !merged && tile.tick === 1 });
    this.forget();
    this.version++;
    this.on.arrived();
  }

  /** The oldest go first, but for the widest: it is what stands behind all others. */
  private forget(): void {
    let bytes = this.held.reduce((sum, held) => sum + held.tile.bytes, 0);
    const widest = Math.max(...this.held.map((held) => held.t1 - held.t0));
    while (bytes > KEPT_BYTES && this.held.length > 1) {
      const oldest = this.held.findIndex((held, i) => held.t1 - held.t0 < widest && i < this.held.length - 1);
      bytes -= this.held.splice(Math.max(0, oldest), 1)[0].tile.bytes;
    }
  }
}

function satisfies(plan: Plan, complete: boolean, { view, width }: Wanted, end: number): boolean {
  const wide = plan.t0 <= Math.max(0, view.t0) && plan.t1 >= Math.min(end, Math.floor(view.t1));
  return wide && (complete || plan.resolution <= (2 * (view.t1 - view.t0)) / width);
}

/** Fine enough is best; then what is too fine to be drawn quickly; then the less coarse. */
function rankOf(held: Held, needed: number): number {
  if (held.resolution > 2 * needed && !held.complete) return held.resolution / needed;
  return held.resolution < needed / 8 && !held.complete ? 2 : 1;
}

function covered(held: Held, view: Range): number {
  return Math.min(view.t1, held.t1) - Math.max(view.t0, held.t0);
}
