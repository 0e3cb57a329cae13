/** Draws one frame: bars by scanline, then text, marks and arrows on the canvas above. */
import { isHidden } from '../lib/browser';
import { type Palette, palette } from '../lib/colours';
import { type Range, theme } from '../model/state';
import type { Timeline } from './controller';
import { addExtremes, boundsOf, makeExtremes, paintCounter } from './counter';
import { type Strip, stripsIn } from './layout';
import { marked } from './marked';
import { drawMinimap } from './minimap';
import { drawOverlay } from './overlay';
import {
  addCover,
  copyHatched,
  copyLine,
  type Label,
  Line,
  type Look,
  paintFolded,
  paintLine,
  perforate,
  type Tally,
} from './painter';
import { drawRuler } from './ruler';
import type { Piece } from './tiles';

export interface Canvases {
  bars: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
  ruler: HTMLCanvasElement;
  minimap: HTMLCanvasElement;
}

/** Text is drawn into bars at least this wide. */
const LABEL_PX = 28;
/** Name of the time that a frame takes, among the page's own measures. */
const FRAME = 'timeline-frame';
const NONE: Tally = { rects: 0, events: 0, merged: 0, matched: 0 };

export class Scene {
  tally: Tally = NONE;
  /** Bars of the idle rows: gaps are no events. */
  gaps: Tally = NONE;
  labels: Label[] = [];
  /** Marks of hits in sight. */
  hits = 0;
  onFrame: () => void = () => {};
  /** Frames are timed: for benchmarks. */
  measured = false;
  private canvases: Canvases | null = null;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private line = new Line(0);
  /** What the bars were last painted from: the same again is the same picture. */
  private painted: unknown[] = [];
  private frame = 0;
  private palettes: Partial<Record<string, Palette>> = {};
  private matched: { from: object; mask: Uint8Array } | null = null;

  constructor(private readonly timeline: Timeline) {}

  attach(canvases: Canvases): void {
    this.canvases = canvases;
    this.draw();
  }

  /** Asks for a frame; many asks make one. */
  draw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.canvases = null;
  }

  look(): Look {
    const name = theme.peek();
    const colours = this.palettes[name] ?? palette(name);
    this.palettes[name] = colours;
    return { palette: colours, shades: this.timeline.shades, matched: this.matchMask() };
  }

  private matchMask(): Uint8Array | null {
    const bright = marked.peek()?.bright;
    if (!bright) return null;
    if (this.matched?.from !== bright) {
      const mask = new Uint8Array(this.timeline.names.length);
      for (const name of bright) mask[name] = 1;
      this.matched = { from: bright, mask };
    }
    return this.matched.mask;
  }

  private paint(): void {
    this.frame = 0;
    const { width, height } = this.timeline.size.peek();
    if (!this.canvases || width <= 0 || height <= 0 || isHidden()) return;
    const begin = this.measured ? performance.now() : 0;
    const ratio = window.devicePixelRatio || 1;
    this.prepare(this.canvases, ratio);
    const top = this.timeline.scrollTop.peek();
    const strips = stripsIn(this.timeline.layout.peek(), top, top + height);
    this.fetch(top, height);
    if (this.changed()) this.paintStrips(strips, ratio);
    drawOverlay(this.canvases.overlay, this.timeline, this.labels, ratio);
    drawRuler(this.canvases.ruler, this.timeline, ratio);
    drawMinimap(this.canvases.minimap, this.timeline, ratio);
    this.onFrame();
    if (this.measured) performance.measure(FRAME, { start: begin, end: performance.now() });
  }

  /** Whether the bars look different now; hover, selection and marks lie above them. */
  private changed(): boolean {
    const { view, layout, scrollTop, size, tiles } = this.timeline;
    const now = [view.peek(), layout.peek(), scrollTop.peek(), size.peek(), tiles.version, theme.peek(), marked.peek()];
    const same = now.length === this.painted.length && now.every((one, i) => one === this.painted[i]);
    this.painted = now;
    return !same;
  }

  /** One screen above and below is read along, for scrolling. */
  private fetch(top: number, height: number): void {
    const { timeline } = this;
    const around = stripsIn(timeline.layout.peek(), top - height, top + 2 * height);
    const inSight = stripsIn(timeline.layout.peek(), top, top + height);
    const rows = (strips: Strip[]) => strips.flatMap((strip) => strip.rows);
    const wanted = { view: timeline.view.peek(), width: timeline.size.peek().width };
    timeline.tiles.want({ rows: rows(inSight), ...wanted }, rows(around));
  }

  private prepare(canvases: Canvases, ratio: number): void {
    const { width, height } = this.timeline.size.peek();
    const w = Math.round(width * ratio);
    const h = Math.round(height * ratio);
    if (this.image?.width === w && this.image.height === h) return;
    for (const canvas of [canvases.bars, canvases.overlay]) {
      canvas.width = w;
      canvas.height = h;
    }
    this.image = new ImageData(w, h);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.line = new Line(w);
    this.painted = [];
  }

  private paintStrips(strips: Strip[], ratio: number): void {
    const look = this.look();
    this.tally = { ...NONE };
    this.gaps = { ...NONE };
    this.labels = [];
    let cleared = 0;
    for (const strip of strips) {
      const { top, bottom } = this.extent(strip, ratio);
      // What a strip covers it paints itself, but for titles and counters.
      const own = strip.kind === 'head' || strip.lane.kind === 'counter' ? bottom : top;
      this.clear(cleared, own, look);
      cleared = bottom;
      if (strip.kind === 'fold') this.paintFold(strip, look, ratio);
      else if (strip.lane.kind === 'counter') this.paintCounter(strip, look, ratio);
      else if (strip.kind === 'row') this.paintRow(strip, look, ratio);
    }
    this.clear(cleared, this.image?.height ?? 0, look);
    if (this.image) this.canvases?.bars.getContext('2d')?.putImageData(this.image, 0, 0);
  }

  private clear(from: number, to: number, look: Look): void {
    const { width } = this.line;
    if (to > from) this.pixels.fill(look.palette.background, Math.max(0, from) * width, Math.max(0, to) * width);
  }

  private pieces(row: number): Piece[] {
    return this.timeline.tiles.pieces(row, this.timeline.view.peek(), this.timeline.size.peek().width);
  }

  private paintRow(strip: Strip, look: Look, ratio: number): void {
    const { line } = this;
    const view = this.timeline.view.peek();
    const idle = strip.lane.kind === 'idle';
    const rows = this.extent(strip, ratio);
    const y = strip.y - this.timeline.scrollTop.peek();
    line.colour.fill(look.palette.background);
    line.merged.fill(0);
    for (const { slice, t0, t1 } of this.pieces(strip.rows[0])) {
      if (slice === null) this.paintPending(view, { t0, t1 }, look);
      else
        paintLine(line, slice, { view, t0, t1 }, look, {
          tally: idle ? this.gaps : this.tally,
          labelled: idle ? Number.POSITIVE_INFINITY : LABEL_PX * ratio,
          label: (index, x0, x1) => {
            const name = slice.tile.name[index];
            const dimmed = look.matched !== null && look.matched[name] !== 1;
            this.labels.push({ x0: x0 / ratio, x1: x1 / ratio, y, name, kind: slice.tile.kind[index], dimmed });
          },
        });
    }
    if (idle) copyHatched(this.pixels, line, rows, look);
    else copyLine(this.pixels, line, rows.top, rows.bottom);
    perforate(this.pixels, line, rows.bottom, look.palette.background);
  }

  private paintPending(view: Range, { t0, t1 }: Range, look: Look): void {
    const scale = this.line.width / (view.t1 - view.t0);
    this.line.colour.fill(look.palette.pending, Math.round((t0 - view.t0) * scale), Math.round((t1 - view.t0) * scale));
  }

  private paintCounter(strip: Strip, look: Look, ratio: number): void {
    const view = this.timeline.view.peek();
    const values = makeExtremes(this.line.width);
    for (const { slice, t0, t1 } of this.pieces(strip.rows[0])) if (slice) addExtremes(values, slice, { view, t0, t1 });
    paintCounter(this.pixels, this.extent(strip, ratio), values, boundsOf(strip.lane), look.palette);
  }

  private paintFold(strip: Strip, look: Look, ratio: number): void {
    const view = this.timeline.view.peek();
    const cover = new Float32Array(this.line.width);
    const colour = new Uint32Array(this.line.width);
    for (const row of strip.rows) {
      for (const { slice, t0, t1 } of this.pieces(row))
        if (slice) addCover(cover, colour, slice, { view, t0, t1 }, look);
    }
    const rows = this.extent(strip, ratio);
    paintFolded(this.pixels, { ...rows, height: rows.bottom - rows.top }, cover, colour, look.palette.background);
  }

  /** Device pixels of a strip, with one row left free below. */
  private extent(strip: Strip, ratio: number): { top: number; bottom: number } {
    const y = strip.y - this.timeline.scrollTop.peek();
    return { top: Math.round(y * ratio), bottom: Math.round((y + strip.height - 1) * ratio) };
  }
}
