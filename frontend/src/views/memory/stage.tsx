import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { memoryZoom, type Range, theme } from '../../model/state';
import { type Ink, inkOf, prepareCanvas } from '../../timeline/pen';
import { useSize } from '../parts/size';
import { drawMarks } from './paint';
import { makePlot, type Plot } from './plot';

/** Less than this is a click. */
const DRAG_PX = 4;

export interface Spot {
  x: number;
  y: number;
  plot: Plot;
}

interface StageProps {
  testId: string;
  class: string;
  label: string;
  range: Range;
  most: number;
  /** Room between the plot and its axis of time, px. */
  foot?: number;
  /** Instant that is marked, ns. */
  at: number | null;
  /** Draws the picture; another function draws anew. */
  draw: (pen: CanvasRenderingContext2D, plot: Plot, ink: Ink) => void;
  onPick: (spot: Spot) => void;
  /** What is told where the mouse is; null tells nothing. */
  tell: (spot: Spot) => ComponentChildren;
}

/** A picture of bytes over time: a click picks, dragging zooms, and what is under the mouse is told. */
export function Stage(props: StageProps): JSX.Element {
  const { ref, width, height } = useSize<HTMLDivElement>();
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [mouse, setMouse] = useState<{ x: number; y: number } | null>(null);
  const [grip, setGrip] = useState<number | null>(null);
  const plot = makePlot(width, height, props.range, props.most, props.foot);
  const { t0, t1 } = props.range;
  const shade = theme.value;
  useEffect(() => {
    if (width > 0) paint(base.current, plot, shade, props.draw);
  }, [width, height, t0, t1, props.most, props.foot, props.draw, shade]);
  const drag: [number, number] | null = grip !== null && mouse && far(grip, mouse.x) ? [grip, mouse.x] : null;
  useEffect(() => {
    if (width === 0) return;
    paint(over.current, plot, shade, (pen, _, ink) =>
      drawMarks(pen, plot, ink, { at: props.at, hover: mouse?.x ?? null, drag }),
    );
  });
  const end = (event: PointerEvent) => {
    const from = grip;
    setGrip(null);
    if (from === null) return;
    if (far(from, event.offsetX)) zoomBetween(plot, from, event.offsetX);
    else props.onPick({ x: event.offsetX, y: event.offsetY, plot });
  };
  const told = mouse && !drag ? props.tell({ ...mouse, plot }) : null;
  return (
    <div class={`memory-stage ${props.class}`} ref={ref}>
      <canvas ref={base} style={{ width: `${width}px`, height: `${height}px` }} />
      <canvas
        ref={over}
        role="img"
        aria-label={props.label}
        data-testid={props.testId}
        data-left={plot.left}
        data-right={plot.right}
        data-t0={t0}
        data-t1={t1}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          setGrip(event.offsetX);
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => setMouse({ x: event.offsetX, y: event.offsetY })}
        onPointerLeave={() => setMouse(null)}
        onPointerCancel={() => setGrip(null)}
        onPointerUp={end}
      />
      {told && mouse && (
        <Tip spot={mouse} width={width}>
          {told}
        </Tip>
      )}
    </div>
  );
}

function far(from: number, to: number): boolean {
  return Math.abs(to - from) > DRAG_PX;
}

function zoomBetween(plot: Plot, from: number, to: number): void {
  const [t0, t1] = [plot.timeOf(Math.min(from, to)), plot.timeOf(Math.max(from, to))];
  if (t1 - t0 >= 1) memoryZoom.value = { t0: Math.floor(t0), t1: Math.ceil(t1) };
}

function paint(
  canvas: HTMLCanvasElement | null,
  plot: Plot,
  shade: 'light' | 'dark',
  draw: (pen: CanvasRenderingContext2D, plot: Plot, ink: Ink) => void,
): void {
  const pen = canvas && prepareCanvas(canvas, plot.width, plot.height, window.devicePixelRatio || 1);
  if (canvas && pen) draw(pen, plot, inkOf(canvas, shade));
}

/** Beside the mouse, on the side that has room. */
function Tip(props: { spot: { x: number; y: number }; width: number; children: ComponentChildren }): JSX.Element {
  const { spot, width } = props;
  const left = spot.x < width / 2;
  const style = left ? { left: `${spot.x + 14}px` } : { right: `${width - spot.x + 14}px` };
  return (
    <div class="memory-tip" data-testid="memory-tip" style={style}>
      {props.children}
    </div>
  );
}
