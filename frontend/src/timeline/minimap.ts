import { kindColour, type Theme } from '../lib/colours';
import { theme } from '../model/state';
import type { Minimap } from '../model/wire';
import type { Timeline } from './controller';
import { marked } from './marked';
import { type Ink, inkOf, prepareCanvas } from './pen';

const STRIP = 18;
/** More devices than this share the height. */
const FULL = 4;
const MARKS = 4;

export function minimapHeight(devices: number): number {
  return STRIP * (1 + Math.min(FULL, devices)) + MARKS;
}

/** The whole recording: utilization of each device and of the host, what is in view, and marked events. */
export function drawMinimap(canvas: HTMLCanvasElement, timeline: Timeline, ratio: number): void {
  const { width } = timeline.size.peek();
  const map = timeline.minimap.peek();
  const height = minimapHeight(map?.devices.length ?? 1);
  const pen = prepareCanvas(canvas, width, height, ratio);
  if (!pen || !map) return;
  const ink = inkOf(canvas, theme.peek());
  pen.drawImage(sharesOf(map, { width, height, ratio, theme: theme.peek() }), 0, 0, width, height);
  drawMarked(pen, timeline, ink, height);
  drawWindow(pen, timeline, ink, height);
}

interface Picture {
  width: number;
  height: number;
  ratio: number;
  theme: Theme;
}

let kept: { map: Minimap; key: string; canvas: HTMLCanvasElement } | null = null;

/** The shares change with the size and the theme only: drawn once, then copied into each frame. */
function sharesOf(map: Minimap, picture: Picture): HTMLCanvasElement {
  const key = JSON.stringify(picture);
  if (kept?.map === map && kept.key === key) return kept.canvas;
  const canvas = document.createElement('canvas');
  const { width, height, ratio } = picture;
  const pen = prepareCanvas(canvas, width, height, ratio);
  const strips = [
    ...map.devices.map((one) => ({ busy: one.busy, kind: 'kernel' as const })),
    { busy: map.host, kind: 'op' as const },
  ];
  const each = (height - MARKS) / strips.length;
  strips.forEach((strip, i) => {
    if (!pen) return;
    pen.fillStyle = kindColour(strip.kind, picture.theme);
    drawShares(pen, strip.busy, { top: i * each + 1, height: each - 2, width });
  });
  kept = { map, key, canvas };
  return canvas;
}

function drawShares(
  pen: CanvasRenderingContext2D,
  busy: number[],
  box: { top: number; height: number; width: number },
): void {
  const each = box.width / Math.max(1, busy.length);
  busy.forEach((share, i) => {
    if (share <= 0) return;
    const tall = Math.max(1, share * box.height);
    pen.fillRect(i * each, box.top + box.height - tall, each, tall);
  });
}

function drawMarked(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink, height: number): void {
  const list = marked.peek();
  if (!list) return;
  const { width } = timeline.size.peek();
  pen.fillStyle = ink.accent;
  let last = -1;
  for (const start of list.start) {
    const x = Math.round((start / timeline.end) * width);
    if (x === last) continue;
    last = x;
    pen.fillRect(x, height - MARKS, 1, MARKS);
  }
}

function drawWindow(pen: CanvasRenderingContext2D, timeline: Timeline, ink: Ink, height: number): void {
  const { width } = timeline.size.peek();
  const { t0, t1 } = timeline.view.peek();
  const left = (t0 / timeline.end) * width;
  const right = Math.max(left + 2, (t1 / timeline.end) * width);
  pen.fillStyle = ink.veil;
  pen.fillRect(0, 0, left, height);
  pen.fillRect(right, 0, width - right, height);
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 1;
  pen.strokeRect(Math.floor(left) + 0.5, 0.5, Math.max(1, Math.floor(right - left) - 1), height - 1);
}
