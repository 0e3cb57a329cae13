import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { kindColour } from '../../lib/colours';
import { duration, tickWithUnit, timeScale } from '../../lib/format';
import { roundStep } from '../../lib/histogram';
import { theme } from '../../model/state';
import type { Kind } from '../../model/wire';
import { useSize } from './size';

interface ScatterProps {
  label: string;
  starts: number[];
  lengths: number[];
  kind: Kind;
  onPick: (index: number) => void;
}

const LEFT = 52;
const BOTTOM = 18;
const TOP = 6;

interface Axes {
  x: (time: number) => number;
  y: (length: number) => number;
  low: number;
  high: number;
  most: number;
}

/** Durations over time, a point a call; a click picks the nearest. */
export function Scatter(props: ScatterProps): JSX.Element {
  const { ref, width, height } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const axes = makeAxes(props, width, height);
  const shade = theme.value;
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, props, axes, shade);
  }, [props.starts, props.lengths, props.kind, width, height, shade]);
  const pick = (event: MouseEvent) => {
    const index = nearest(props, axes, event.offsetX, event.offsetY);
    if (index >= 0) props.onPick(index);
  };
  return (
    <div class="scatter" ref={ref}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={props.label}
        onClick={pick}
        style={{ width: `${width}px`, height: `${height}px` }}
      />
    </div>
  );
}

function makeAxes({ starts, lengths }: ScatterProps, width: number, height: number): Axes {
  const low = starts.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = starts.reduce((a, b) => Math.max(a, b), 0);
  const most = lengths.reduce((a, b) => Math.max(a, b), 1);
  const over = Math.max(1, high - low);
  return {
    x: (time) => LEFT + ((time - low) / over) * (width - LEFT - 8),
    y: (length) => height - BOTTOM - (length / (most * 1.05)) * (height - BOTTOM - TOP),
    low,
    high,
    most,
  };
}

function draw(canvas: HTMLCanvasElement, props: ScatterProps, axes: Axes, shade: 'light' | 'dark'): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  pen.font = `11px ${style.fontFamily}`;
  drawAxes(pen, axes, {
    width,
    height,
    ink: style.getPropertyValue('--muted'),
    line: style.getPropertyValue('--line'),
  });
  pen.fillStyle = kindColour(props.kind, shade);
  pen.globalAlpha = props.starts.length > 2000 ? 0.45 : 0.8;
  for (let i = 0; i < props.starts.length; i++) {
    pen.fillRect(axes.x(props.starts[i]) - 1.5, axes.y(props.lengths[i]) - 1.5, 3, 3);
  }
}

interface Frame {
  width: number;
  height: number;
  ink: string;
  line: string;
}

function drawAxes(pen: CanvasRenderingContext2D, axes: Axes, frame: Frame): void {
  const scale = timeScale(axes.most);
  const step = roundStep(axes.most / 4);
  pen.textAlign = 'right';
  for (let value = 0; value <= axes.most * 1.05; value += step) {
    const y = Math.round(axes.y(value)) + 0.5;
    pen.fillStyle = frame.line;
    pen.fillRect(LEFT, y - 0.5, frame.width - LEFT - 8, 1);
    pen.fillStyle = frame.ink;
    pen.fillText(value === 0 ? '0' : tickWithUnit(value, scale), LEFT - 6, y + 4);
  }
  pen.textAlign = 'left';
  pen.fillText(duration(axes.low), LEFT, frame.height - 4);
  pen.textAlign = 'right';
  pen.fillText(duration(axes.high), frame.width - 8, frame.height - 4);
}

function nearest({ starts, lengths }: ScatterProps, axes: Axes, x: number, y: number): number {
  let best = -1;
  let closest = 12 ** 2;
  for (let i = 0; i < starts.length; i++) {
    const distance = (axes.x(starts[i]) - x) ** 2 + (axes.y(lengths[i]) - y) ** 2;
    if (distance < closest) {
      closest = distance;
      best = i;
    }
  }
  return best;
}
