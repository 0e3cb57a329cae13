/** Draws one frame: bars by scanline, then text, marks and arrows on the canvas above. */
import { isHidden } from '../lib/browser';
import { type Palette, palette } from '../lib/colours';
import { theme } from '../model/state';
import type { Timeline } from './controller';
import { type Strip, stripsIn } from './layout';
import { marked } from './marked';
import { drawMinimap } from './minimap';
import { drawOverlay } from './overlay';
import { addCover, copyHatched, copyLine, type Label, type Look, paintFolded, paintLine, type Tally } from './painter';
import { drawRuler } from './ruler';

export interface Canvases {
  bars: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
  ruler: HTMLCanvasElement;
  minimap: HTMLCanvasElement;
}

/** Text is drawn into bars at least this wide. */
const LABEL_PX = 28;
const NONE: Tally = { rects: 0, events: 0, merged: 0, matched: 0 };

export class Scene {
  tally: Tally = NONE;
  /** Bars of the idle rows: gaps are no events. */
  gaps: Tally = NONE;
  labels: Label[] = [];
  /** Marks of hits in sight. */
  hits = 0;
  onFrame: () => void = () => {};
  private canvases: Canvases | null = null;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private line = new Uint32Array(0);
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
    const ratio = window.devicePixelRatio || 1;
    this.prepare(this.canvases, ratio);
    const top = this.timeline.scrollTop.peek();
    const strips = stripsIn(this.timeline.layout.peek(), top, top + height);
    this.fetch(top, height);
    this.paintStrips(strips, ratio);
    drawOverlay(this.canvases.overlay, this.timeline, this.labels, ratio);
    drawRuler(this.canvases.ruler, this.timeline, ratio);
    drawMinimap(this.canvases.minimap, this.timeline, ratio);
    this.onFrame();
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
    this.line = new Uint32Array(w);
  }

  private paintStrips(strips: Strip[], ratio: number): void {
    const look = this.look();
    this.tally = { ...NONE };
    this.gaps = { ...NONE };
    this.labels = [];
    this.pixels.fill(look.palette.background);
    for (const strip of strips) {
      if (strip.kind === 'row') this.paintRow(strip, look, ratio);
      else if (strip.kind === 'fold') this.paintFold(strip, look, ratio);
    }
    if (this.image) this.canvases?.bars.getContext('2d')?.putImageData(this.image, 0, 0);
  }

  private paintRow(strip: Strip, look: Look, ratio: number): void {
    const view = this.timeline.view.peek();
    const slice = this.timeline.tiles.slice(strip.rows[0], view);
    const rows = this.extent(strip, ratio);
    const y = strip.y - this.timeline.scrollTop.peek();
    paintLine(this.line, slice, view, look, {
      tally: strip.lane.kind === 'idle' ? this.gaps : this.tally,
      label: (index, x0, x1) => {
        if (!slice || x1 - x0 < LABEL_PX * ratio || strip.lane.kind === 'idle') return;
        const name = slice.tile.name[index];
        const dimmed = look.matched !== null && look.matched[name] !== 1;
        this.labels.push({ x0: x0 / ratio, x1: x1 / ratio, y, name, kind: slice.tile.kind[index], dimmed });
      },
    });
    if (strip.lane.kind === 'idle') copyHatched(this.pixels, this.line, rows, look);
    else copyLine(this.pixels, this.line, rows.top, rows.bottom);
  }

  private paintFold(strip: Strip, look: Look, ratio: number): void {
    const view = this.timeline.view.peek();
    const cover = new Float32Array(this.line.length);
    const colour = new Uint32Array(this.line.length);
    for (const row of strip.rows) {
      const slice = this.timeline.tiles.slice(row, view);
      if (slice) addCover(cover, colour, slice, view, look);
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
