/** The timeline behind its page: what is shown, what is picked, and when to draw. */
import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { reducedMotion } from '../lib/browser';
import { shadeOf } from '../lib/colours';
import { type Source, type Subject, toProblem } from '../model/source';
import { filter, type Range, selection, theme, viewport } from '../model/state';
import { endOf, rowRanges, startOf } from '../model/tile';
import type { EventDetail, Info, Lane, Lanes, Minimap, Ref } from '../model/wire';
import { type Hit, hitAt, hitOf, isSame, spanOf } from './hit';
import { foldsOver, type Layout, makeLayout, stripsIn } from './layout';
import { marked, nextMarked } from './marked';
import type { OverlayPath } from './path';
import { Scene } from './scene';
import { TileStore } from './tiles';
import { clampView, fitView, panView, zoomView } from './view';

export interface Span extends Range {
  row: number | null;
  /** The ends are those of a cut piece: good to draw, not to measure. */
  cut?: boolean;
}

export interface Mark extends Range {
  kept: boolean;
}

export interface DragArea extends Range {
  top: number;
  bottom: number;
}

interface Loaded {
  source: Source;
  of: Subject;
  info: Info;
  lanes: Lanes;
  names: string[];
}

export class Timeline {
  readonly end: number;
  readonly lanes: Lane[];
  readonly names: string[];
  readonly info: Info;
  readonly folded = signal<ReadonlySet<number>>(new Set());
  readonly layout: ReadonlySignal<Layout>;
  readonly view: ReadonlySignal<Range>;
  readonly hover = signal<Hit | null>(null);
  readonly problem = signal<string | null>(null);
  readonly marks = signal<Mark[]>([]);
  readonly minimap = signal<Minimap | null>(null);
  /** Details of the selected event, once they came: stack and links. */
  readonly detail = signal<EventDetail | null>(null);
  /** Where the selection lies; known at the click, before its details. */
  readonly picked = signal<Span | null>(null);
  readonly drag = signal<DragArea | null>(null);
  /** Paths drawn over the picture; whoever has one puts it here. */
  readonly paths = signal<OverlayPath[]>([]);
  readonly scrollTop = signal(0);
  readonly size = signal({ width: 0, height: 0 });
  readonly tiles: TileStore;
  readonly scene: Scene;
  readonly shades: Uint8Array;
  /** Mouse over the rows, in pixels of the canvas. */
  mouse: { x: number; y: number } | null = null;
  scrollTo: (top: number) => void = () => {};
  private readonly source: Source;
  private readonly of: Subject;
  private readonly stops: (() => void)[] = [];

  constructor({ source, of, info, lanes, names }: Loaded) {
    this.source = source;
    this.of = of;
    this.info = info;
    this.end = Math.max(1, lanes.end_ns);
    this.lanes = lanes.lanes;
    this.names = names;
    this.shades = Uint8Array.from(names, shadeOf);
    this.layout = computed(() => makeLayout(this.lanes, this.folded.value));
    this.view = computed(() => clampView(viewport.value ?? filter.value ?? { t0: 0, t1: this.end }, this.end));
    this.scene = new Scene(this);
    this.tiles = new TileStore(source, of, this.end, {
      arrived: () => {
        this.problem.value = null;
        this.scene.draw();
      },
      failed: (error) => {
        this.problem.value = toProblem(error).message;
      },
    });
    this.stops.push(effect(() => this.follow()));
  }

  /** Whatever the picture is made of: a change of any asks for a new one. */
  private follow(): void {
    void [
      this.view.value,
      this.layout.value,
      this.hover.value,
      this.marks.value,
      this.minimap.value,
      this.detail.value,
    ];
    void [
      this.paths.value,
      this.picked.value,
      this.drag.value,
      this.scrollTop.value,
      this.size.value,
      marked.value,
      theme.value,
      selection.value,
      filter.value,
    ];
    this.scene.draw();
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.tiles.dispose();
    this.scene.dispose();
  }

  timeAt(x: number): number {
    const { t0, t1 } = this.view.peek();
    return t0 + (x / Math.max(1, this.size.peek().width)) * (t1 - t0);
  }

  xOf(time: number): number {
    const { t0, t1 } = this.view.peek();
    return ((time - t0) / (t1 - t0)) * this.size.peek().width;
  }

  setView(view: Range | null): void {
    // With a filter, nothing chosen means the filtered time: the whole must be asked for.
    const whole = filter.peek() ? { t0: 0, t1: this.end } : null;
    viewport.value = view ? clampView(view, this.end) : whole;
    this.hoverAgain();
  }

  /** What lies under a resting mouse changes as the picture moves. */
  hoverAgain(): void {
    const hit = this.mouse && !this.drag.peek() ? this.hit(this.mouse.x, this.mouse.y) : null;
    if (!isSame(hit, this.hover.peek())) this.hover.value = hit;
  }

  zoom(factor: number, x = this.mouse?.x ?? this.size.peek().width / 2): void {
    this.setView(zoomView(this.view.peek(), factor, this.timeAt(x), this.end));
  }

  pan(pixels: number): void {
    const { t0, t1 } = this.view.peek();
    this.setView(panView({ t0, t1 }, (pixels / Math.max(1, this.size.peek().width)) * (t1 - t0), this.end));
  }

  /** Fits the selection with room around it; asked again, without. */
  fit(): void {
    const range = this.chosenRange();
    if (!range) return;
    const { t0, t1 } = this.view.peek();
    const roomy = fitView(range, 0.5, this.end);
    const already = Math.abs(t0 - roomy.t0) + Math.abs(t1 - roomy.t1) < (t1 - t0) * 0.02;
    this.setView(already ? fitView(range, 0.02, this.end) : roomy);
  }

  /** The selected event, gap or area as a stretch of time; null while its ends are not known. */
  chosenRange(): Range | null {
    const what = selection.peek();
    if (what?.kind === 'area') return { t0: what.t0, t1: what.t1 };
    const span = this.picked.peek();
    if (span?.cut) return null;
    return span && { t0: span.t0, t1: Math.max(span.t1, span.t0 + 1) };
  }

  hit(x: number, y: number): Hit | null {
    return hitAt(this, x, y);
  }

  pick(hit: Hit | null): void {
    const bar = hit?.counter ? null : hit;
    // Picked again, its true ends are known already.
    if (bar && isSelected(bar) && this.picked.peek()?.row === bar.row) return;
    const span = bar && spanOf(bar.tile, bar.index, bar.row);
    if (bar?.merged) {
      this.picked.value = span;
      void this.pickLongest(bar, span);
      return;
    }
    batch(() => {
      this.picked.value = span;
      selection.value = bar && choiceOf(bar.id, bar.idle);
    });
  }

  /** Of a merged bar the longest event is picked; the server knows which it is. */
  private async pickLongest({ entry, count, idle }: Hit, span: Span | null): Promise<void> {
    const found = await this.source.longest(this.of, entry, count).catch((error) => {
      this.problem.value = toProblem(error).message;
      return null;
    });
    // Something else may have been picked meanwhile.
    if (!found || this.picked.peek() !== span) return;
    batch(() => {
      this.picked.value = { t0: found.start_ns, t1: found.start_ns + found.duration_ns, row: found.row };
      selection.value = choiceOf(found.id, idle);
    });
  }

  /** Selects an event and brings it into sight. */
  select(ref: Ref): void {
    batch(() => {
      selection.value = { kind: 'event', id: ref.id };
      this.reveal({ t0: ref.start_ns, t1: ref.start_ns + ref.duration_ns, row: ref.row });
    });
  }

  /** Brings a stretch of time into sight; `whole` where a part of it at the edge is not enough. */
  reveal(span: Span, whole = false): void {
    batch(() => {
      this.picked.value = span;
      const { t0, t1 } = this.view.peek();
      const length = span.t1 - span.t0;
      const cut = whole && length < t1 - t0 && (span.t0 < t0 || span.t1 > t1);
      if (cut || span.t1 < t0 || span.t0 > t1) {
        const half = Math.max((t1 - t0) / 2, length * 0.75);
        const middle = (span.t0 + span.t1) / 2;
        this.setView({ t0: middle - half, t1: middle + half });
      }
      if (span.row !== null) this.revealRow(span.row);
    });
  }

  private revealRow(row: number): void {
    const folds = foldsOver(row, this.lanes, this.folded.peek());
    if (folds.length > 0) this.folded.value = new Set([...this.folded.peek()].filter((lane) => !folds.includes(lane)));
    const strip = this.layout.peek().ofRow.get(row);
    if (!strip) return;
    const top = this.scrollTop.peek();
    const { height } = this.size.peek();
    if (strip.y >= top && strip.y + strip.height <= top + height) return;
    this.scrollTo(Math.max(0, strip.y - Math.max(40, height / 3)));
  }

  toggle(lane: number): void {
    const next = new Set(this.folded.peek());
    if (!next.delete(lane)) next.add(lane);
    this.folded.value = next;
  }

  async step(by: 1 | -1): Promise<void> {
    const what = selection.peek();
    if (what?.kind === 'gap') return this.stepGap(by);
    if (what?.kind !== 'event') return this.pickCentre();
    const { event } = await this.source.neighbor(this.of, what.id, by).catch((error) => {
      this.problem.value = toProblem(error).message;
      return { event: null };
    });
    if (event) this.select(event);
  }

  /** Gaps have no neighbours on the wire: the next rectangle of the idle row is it. */
  private stepGap(by: 1 | -1): void {
    const span = this.picked.peek();
    if (!span || span.row === null) return;
    const view = this.view.peek();
    const edge = Math.max(view.t0, Math.min(view.t1, by > 0 ? span.t1 : span.t0));
    const slice = this.tiles.sliceAt(span.row, edge, view, this.size.peek().width);
    if (!slice) return;
    const { tile, offset, count } = slice;
    for (let i = offset; i < offset + count; i++) {
      const next = by > 0 ? i : 2 * offset + count - 1 - i;
      const ahead = by > 0 ? startOf(tile, next) >= span.t1 : endOf(tile, next) <= span.t0;
      if (!ahead) continue;
      this.pick(hitOf(this, tile, next, span.row));
      this.reveal(this.picked.peek() ?? span);
      return;
    }
  }

  private pickCentre(): void {
    const { width, height } = this.size.peek();
    const strips = stripsIn(this.layout.peek(), this.scrollTop.peek(), this.scrollTop.peek() + height);
    for (const strip of strips) {
      const hit =
        strip.kind === 'row'
          ? hitAt(this, width / 2, strip.y - this.scrollTop.peek() + strip.height / 2, width / 2)
          : null;
      if (!hit || hit.idle || hit.counter) continue;
      this.pick(hit);
      return;
    }
  }

  /** To the enclosing event, or to the one below on the next row. */
  climb(by: 1 | -1): void {
    const detail = this.detail.peek();
    if (by < 0 && detail) {
      const parent = detail.parents[detail.parents.length - 1];
      if (parent) this.select(parent);
      return;
    }
    const span = this.picked.peek();
    const strip = span?.row != null ? this.layout.peek().ofRow.get(span.row + by) : undefined;
    if (!span || !strip) return;
    const x = (this.xOf(span.t0) + this.xOf(span.t1)) / 2;
    const reach = Math.max(3, (this.xOf(span.t1) - this.xOf(span.t0)) / 2);
    const hit = hitAt(this, x, strip.y - this.scrollTop.peek() + strip.height / 2, reach);
    if (hit) this.pick(hit);
  }

  /** To the next or previous of the marked events. */
  goToMarked(by: 1 | -1): void {
    const hit = nextMarked(by, this.view.peek().t0);
    if (hit) this.reveal({ t0: hit.start_ns, t1: hit.start_ns + hit.duration_ns, row: hit.row }, true);
  }

  /** Measures the selection; a kept mark stays when the next is made. */
  mark(keep: boolean): void {
    if (this.picked.peek()?.cut) return;
    const range = this.chosenRange();
    const kept = this.marks.peek().filter((one) => one.kept);
    if (!range) {
      this.marks.value = [];
      return;
    }
    const same = this.marks.peek().some((one) => one.t0 === range.t0 && one.t1 === range.t1 && one.kept === keep);
    this.marks.value = same ? kept.filter((one) => one.t0 !== range.t0) : [...kept, { ...range, kept: keep }];
  }

  /** Everything in view as a table: the picture's text twin. */
  listView(): void {
    const { height } = this.size.peek();
    const strips = stripsIn(this.layout.peek(), this.scrollTop.peek(), this.scrollTop.peek() + height);
    this.selectArea(
      this.view.peek(),
      strips.flatMap((strip) => strip.rows),
    );
  }

  selectArea(range: Range, rows: number[]): void {
    if (rows.length === 0) return;
    this.picked.value = null;
    selection.value = {
      kind: 'area',
      rows: rowRanges(rows),
      t0: Math.max(0, Math.floor(range.t0)),
      t1: Math.ceil(range.t1),
    };
  }

  get smooth(): boolean {
    return !reducedMotion();
  }
}

function choiceOf(id: number, idle: boolean): { kind: 'gap'; gap: number } | { kind: 'event'; id: number } {
  return idle ? { kind: 'gap', gap: id } : { kind: 'event', id };
}

function isSelected(hit: Hit): boolean {
  const what = selection.peek();
  return hit.idle ? what?.kind === 'gap' && what.gap === hit.id : what?.kind === 'event' && what.id === hit.id;
}
