/** Small things around 2D canvases. */
import type { Theme } from '../lib/colours';

export interface Ink {
  font: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  band: string;
  bandOdd: string;
  paper: string;
  veil: string;
}

/** Sizes the canvas for the screen and clears it; null without a context. */
export function prepareCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D | null {
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const pen = canvas.getContext('2d');
  if (!pen) return null;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

let inks: Partial<Record<Theme, Ink>> = {};

/** The theme's colours, from the style sheet: asking it in every frame would lay out the page each time. */
export function inkOf(element: Element, of: Theme): Ink {
  const known = inks[of];
  if (known) return known;
  const ink = readInk(element);
  // A page that is not laid out yet knows no colours.
  if (ink.text !== '') inks = { ...inks, [of]: ink };
  return ink;
}

function readInk(element: Element): Ink {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    font: style.fontFamily,
    text: read('--text'),
    muted: read('--muted'),
    line: read('--line-strong'),
    accent: read('--accent'),
    band: read('--band'),
    bandOdd: read('--band-odd'),
    paper: read('--paper'),
    veil: read('--veil'),
  };
}
