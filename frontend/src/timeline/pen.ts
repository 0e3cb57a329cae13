/** Small things around 2D canvases. */
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

/** The theme's colours, from the style sheet. */
export function inkOf(element: Element): Ink {
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
