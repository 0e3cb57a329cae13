/** Keys of the timeline. W, A, S and D by their place on the keyboard, so that every layout steers alike. */
import { isTyping } from '../lib/browser';
import { pathShown } from '../model/state';
import type { Timeline } from './controller';

const STEERING: Record<string, { pan: number; zoom: number }> = {
  KeyW: { pan: 0, zoom: -1 },
  KeyS: { pan: 0, zoom: 1 },
  KeyA: { pan: -1, zoom: 0 },
  KeyD: { pan: 1, zoom: 0 },
};
/** Share of the gap to full speed that is closed in each frame. */
const SPRING = 0.3;
const PAN_PER_FRAME = 0.025;
const ZOOM_PER_FRAME = 0.06;
const FRAME_MS = 16.7;

type Action = (timeline: Timeline, event: KeyboardEvent) => void;

const ACTIONS: Record<string, Action> = {
  f: (timeline) => timeline.fit(),
  '0': (timeline) => timeline.setView(null),
  z: (timeline) => timeline.setView(null),
  '.': (timeline) => void timeline.step(1),
  ',': (timeline) => void timeline.step(-1),
  ArrowRight: (timeline) => void timeline.step(1),
  ArrowLeft: (timeline) => void timeline.step(-1),
  ArrowUp: (timeline) => timeline.climb(-1),
  ArrowDown: (timeline) => timeline.climb(1),
  m: (timeline, event) => timeline.mark(event.shiftKey),
  l: (timeline) => timeline.listView(),
  c: () => {
    pathShown.value = !pathShown.value;
  },
  Enter: (timeline, event) => timeline.goToMarked(event.shiftKey ? -1 : 1),
  '+': (timeline) => timeline.zoom(0.8),
  '-': (timeline) => timeline.zoom(1.25),
};

export function bindKeys(timeline: Timeline): () => void {
  const steering = new Steering(timeline);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = event.target instanceof HTMLElement && event.target.dataset.testid === 'search-box';
    if (search ? event.key !== 'Enter' : isElsewhere(event)) return;
    if (STEERING[event.code] && !search) steering.press(event.code, event.repeat);
    else if (!act(timeline, event)) return;
    event.preventDefault();
  };
  const onKeyUp = (event: KeyboardEvent) => steering.release(event.code);
  const onBlur = () => steering.stop();
  window.addEventListener('keydown', onKeyDown);
  window.addEventListener('keyup', onKeyUp);
  window.addEventListener('blur', onBlur);
  return () => {
    window.removeEventListener('keydown', onKeyDown);
    window.removeEventListener('keyup', onKeyUp);
    window.removeEventListener('blur', onBlur);
    steering.stop();
  };
}

/** Fields take every key; buttons, tables and handles take Enter and the arrows. */
function isElsewhere(event: KeyboardEvent): boolean {
  if (isTyping(event.target)) return true;
  const own =
    event.target instanceof HTMLElement && event.target.closest('button, .grid, [role=separator], summary') !== null;
  return own && /^(Enter|Arrow|Page|Home|End)/.test(event.key);
}

function act(timeline: Timeline, event: KeyboardEvent): boolean {
  const action = ACTIONS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  action?.(timeline, event);
  return action !== undefined;
}

/** Held keys speed up and let go softly. */
class Steering {
  private held = new Set<string>();
  private speed = { pan: 0, zoom: 0 };
  private frame = 0;
  private last = 0;

  constructor(private readonly timeline: Timeline) {}

  press(code: string, repeat: boolean): void {
    if (!this.timeline.smooth) {
      const { pan, zoom } = STEERING[code];
      if (pan) this.timeline.pan(pan * this.timeline.size.peek().width * 0.12);
      if (zoom) this.timeline.zoom(zoom > 0 ? 1.3 : 1 / 1.3);
      return;
    }
    if (repeat) return;
    this.held.add(code);
    this.speed.pan += STEERING[code].pan * 0.6;
    this.speed.zoom += STEERING[code].zoom * 0.6;
    if (this.frame === 0) {
      this.last = performance.now();
      this.frame = requestAnimationFrame((now) => this.move(now));
    }
  }

  release(code: string): void {
    this.held.delete(code);
  }

  stop(): void {
    this.held.clear();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.speed = { pan: 0, zoom: 0 };
  }

  private move(now: number): void {
    const frames = Math.min(6, Math.max(0.2, (now - this.last) / FRAME_MS));
    this.last = now;
    const aim = { pan: 0, zoom: 0 };
    for (const code of this.held) {
      aim.pan += STEERING[code].pan;
      aim.zoom += STEERING[code].zoom;
    }
    const share = 1 - (1 - SPRING) ** frames;
    this.speed.pan += (aim.pan - this.speed.pan) * share;
    this.speed.zoom += (aim.zoom - this.speed.zoom) * share;
    const { width } = this.timeline.size.peek();
    if (this.speed.pan) this.timeline.pan(this.speed.pan * frames * PAN_PER_FRAME * width);
    if (this.speed.zoom) this.timeline.zoom(Math.exp(this.speed.zoom * frames * ZOOM_PER_FRAME));
    const moving = this.held.size > 0 || Math.abs(this.speed.pan) + Math.abs(this.speed.zoom) > 0.02;
    this.frame = moving ? requestAnimationFrame((next) => this.move(next)) : 0;
    if (!moving) this.speed = { pan: 0, zoom: 0 };
  }
}
