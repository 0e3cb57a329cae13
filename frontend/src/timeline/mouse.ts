/** Mouse, wheel and touch on the rows, the ruler and the minimap. */
import { type Range, selection } from '../model/state';
import type { Timeline } from './controller';
import { stripsIn } from './layout';
import { selectedArea } from './overlay';
import { clampView } from './view';

/** A press that moves less than this is a click. */
const CLICK_PX = 4;
const EDGE_PX = 4;

type Drag = { move: (x: number, y: number) => void; end: (x: number, y: number, moved: boolean) => void };

/** Follows a press from down to up; `start` says what the drag does. */
function onDrag(element: HTMLElement, start: (event: PointerEvent) => Drag | null): void {
  element.addEventListener('pointerdown', (down) => {
    if (down.button > 1) return;
    const drag = start(down);
    if (!drag) return;
    let moved = false;
    const move = (event: PointerEvent) => {
      moved ||= Math.abs(event.clientX - down.clientX) + Math.abs(event.clientY - down.clientY) > CLICK_PX;
      if (moved) drag.move(event.offsetX, event.offsetY);
    };
    const end = (event: PointerEvent) => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', end);
      element.removeEventListener('pointercancel', end);
      drag.end(event.offsetX, event.offsetY, moved);
    };
    element.setPointerCapture(down.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
  });
}

export function bindRows(canvas: HTMLCanvasElement, timeline: Timeline): void {
  onDrag(canvas, (event) => {
    canvas.closest<HTMLElement>('[role=application]')?.focus({ preventScroll: true });
    if (event.shiftKey || event.button === 1) return panDrag(timeline, event);
    return edgeDrag(timeline, event.offsetX) ?? areaDrag(timeline, event);
  });
  canvas.addEventListener('pointermove', (event) => {
    timeline.mouse = { x: event.offsetX, y: event.offsetY };
    timeline.hoverAgain();
    timeline.scene.onFrame();
    canvas.style.cursor = nearEdge(timeline, event.offsetX) ? 'ew-resize' : 'default';
  });
  canvas.addEventListener('pointerleave', () => {
    timeline.mouse = null;
    timeline.hover.value = null;
  });
  canvas.addEventListener('dblclick', () => timeline.fit());
}

function panDrag(timeline: Timeline, down: PointerEvent): Drag {
  let last = { x: down.offsetX, y: down.offsetY };
  return {
    move: (x, y) => {
      timeline.pan(last.x - x);
      timeline.scrollTo(timeline.scrollTop.peek() + last.y - y);
      last = { x, y };
    },
    end: () => {},
  };
}

function ordered(a: number, b: number): Range {
  return { t0: Math.min(a, b), t1: Math.max(a, b) };
}

function areaDrag(timeline: Timeline, down: PointerEvent): Drag {
  const from = { time: timeline.timeAt(down.offsetX), y: down.offsetY };
  return {
    move: (x, y) => {
      timeline.drag.value = {
        ...ordered(from.time, timeline.timeAt(x)),
        top: Math.min(from.y, y),
        bottom: Math.max(from.y, y),
      };
    },
    end: (x, y, moved) => {
      timeline.drag.value = null;
      if (!moved) {
        timeline.pick(timeline.hit(x, y));
        return;
      }
      const scroll = timeline.scrollTop.peek();
      const strips = stripsIn(timeline.layout.peek(), Math.min(from.y, y) + scroll, Math.max(from.y, y) + scroll + 1);
      timeline.selectArea(
        ordered(from.time, timeline.timeAt(x)),
        strips.flatMap((strip) => strip.rows),
      );
    },
  };
}

function nearEdge(timeline: Timeline, x: number): 't0' | 't1' | null {
  const area = selectedArea(timeline);
  if (!area) return null;
  if (Math.abs(timeline.xOf(area.t0) - x) <= EDGE_PX) return 't0';
  return Math.abs(timeline.xOf(area.t1) - x) <= EDGE_PX ? 't1' : null;
}

/** An edge of the selected area is moved. */
function edgeDrag(timeline: Timeline, x: number): Drag | null {
  const edge = nearEdge(timeline, x);
  const area = selectedArea(timeline);
  const what = selection.peek();
  if (!edge || !area || what?.kind !== 'area') return null;
  const other = edge === 't0' ? area.t1 : area.t0;
  return {
    move: (to) => {
      timeline.drag.value = { ...area, ...ordered(other, timeline.timeAt(to)) };
    },
    end: (to, _, moved) => {
      timeline.drag.value = null;
      if (!moved) return;
      const range = ordered(other, timeline.timeAt(to));
      selection.value = { ...what, t0: Math.max(0, Math.floor(range.t0)), t1: Math.ceil(range.t1) };
    },
  };
}

/** Dragging over the ruler zooms to what was dragged over. */
export function bindRuler(canvas: HTMLCanvasElement, timeline: Timeline): void {
  onDrag(canvas, (down) => {
    const from = timeline.timeAt(down.offsetX);
    return {
      move: (x) => {
        timeline.drag.value = { ...ordered(from, timeline.timeAt(x)), top: 0, bottom: timeline.size.peek().height };
      },
      end: (x, _, moved) => {
        timeline.drag.value = null;
        if (moved) timeline.setView(ordered(from, timeline.timeAt(x)));
      },
    };
  });
}

/** The window on the minimap follows the mouse. */
export function bindMinimap(canvas: HTMLCanvasElement, timeline: Timeline): void {
  const centre = (x: number) => {
    const { t0, t1 } = timeline.view.peek();
    const middle = (x / Math.max(1, timeline.size.peek().width)) * timeline.end;
    timeline.setView(clampView({ t0: middle - (t1 - t0) / 2, t1: middle + (t1 - t0) / 2 }, timeline.end));
  };
  onDrag(canvas, (down) => {
    const { t0, t1 } = timeline.view.peek();
    const at = (down.offsetX / Math.max(1, timeline.size.peek().width)) * timeline.end;
    const inside = at >= t0 && at <= t1;
    const grip = inside ? ((t0 + t1) / 2 - at) / timeline.end : 0;
    if (!inside) centre(down.offsetX);
    return { move: (x) => centre(x + grip * timeline.size.peek().width), end: () => {} };
  });
}

const ZOOM_PER_PIXEL = 0.004;

/** Ctrl and wheel zoom, shift or sideways pans; plain wheels scroll the rows, as the browser does. */
export function bindWheel(element: HTMLElement, timeline: Timeline): void {
  const onWheel = (event: WheelEvent) => {
    const unit = event.deltaMode === 1 ? 16 : 1;
    const x = event.clientX - element.getBoundingClientRect().left;
    if (event.ctrlKey || event.metaKey) {
      const by = Math.max(-120, Math.min(120, event.deltaY * unit));
      timeline.zoom(Math.exp(by * ZOOM_PER_PIXEL), x);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      timeline.pan((event.deltaX || event.deltaY) * unit);
    } else return;
    event.preventDefault();
  };
  // Not passive: a wheel that zooms the timeline must not zoom the page.
  element.addEventListener('wheel', onWheel, { passive: false });
}
