import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Timeline } from './controller';
import { bindKeys } from './keys';
import { Lanes } from './lanes';
import { minimapHeight } from './minimap';
import { bindMinimap, bindRows, bindRuler, bindWheel } from './mouse';
import { exposeForTests } from './probe';
import { RULER } from './ruler';
import { Status } from './status';
import { Tooltip } from './tooltip';

const INSTRUCTIONS =
  'W and S zoom, A and D move. Comma and period go along a row, up and down between rows, F fits the selection, 0 shows all, L lists what is in view as a table. Question mark: all keys.';

/** The elements of the timeline; everything that moves is drawn by the scene. */
export function Stage({ timeline }: { timeline: Timeline }): JSX.Element {
  const scroll = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const box = scroll.current;
    if (!box || !bars.current || !overlay.current || !ruler.current || !minimap.current) return;
    timeline.scene.attach({
      bars: bars.current,
      overlay: overlay.current,
      ruler: ruler.current,
      minimap: minimap.current,
    });
    bindRows(overlay.current, timeline);
    bindRuler(ruler.current, timeline);
    bindMinimap(minimap.current, timeline);
    bindWheel(overlay.current, timeline);
    const stops = [followSize(box, overlay.current, timeline), bindKeys(timeline), exposeForTests(timeline)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [timeline]);
  const mapHeight = minimapHeight(timeline.minimap.value?.devices.length ?? 1);
  // As wide as the rows, which give way to a scroll bar.
  const width = `${timeline.size.value.width}px`;
  return (
    <div
      class="stage"
      role="application"
      aria-label="Timeline"
      aria-describedby="timeline-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the focus, and its keys
      tabIndex={0}
    >
      <p class="offscreen" id="timeline-keys">
        {INSTRUCTIONS}
      </p>
      <MinimapLabels timeline={timeline} height={mapHeight} />
      <canvas class="stage-minimap" ref={minimap} style={{ width, height: `${mapHeight}px` }} data-testid="minimap" />
      <div class="stage-corner">Steps and time</div>
      <canvas class="stage-ruler" ref={ruler} style={{ width, height: `${RULER}px` }} data-testid="ruler" />
      <div class="stage-scroll" ref={scroll}>
        <div class="stage-tall" style={{ height: `${timeline.layout.value.height}px` }}>
          <div class="stage-view">
            <Lanes timeline={timeline} />
            <canvas class="stage-bars" ref={bars} />
            <canvas class="stage-overlay" ref={overlay} data-testid="timeline-canvas" />
            <Tooltip timeline={timeline} />
          </div>
        </div>
      </div>
      <Status timeline={timeline} />
    </div>
  );
}

function MinimapLabels({ timeline, height }: { timeline: Timeline; height: number }): JSX.Element {
  const devices = timeline.minimap.value?.devices ?? [];
  const few = devices.length <= 4;
  return (
    <div class="stage-corner minimap-labels" style={{ height: `${height - 4}px` }}>
      {few ? (
        devices.map((one) => <span key={one.device}>GPU {one.device} busy</span>)
      ) : (
        <span style={{ flexGrow: devices.length }}>{devices.length} GPUs busy</span>
      )}
      <span>Host busy</span>
    </div>
  );
}

function followSize(box: HTMLElement, canvas: HTMLCanvasElement, timeline: Timeline): () => void {
  const read = () => {
    const width = canvas.clientWidth;
    const height = box.clientHeight;
    box.style.setProperty('--view-height', `${height}px`);
    // Hidden by TensorBoard: the size comes back with the tab.
    if (width > 0 && height > 0) timeline.size.value = { width, height };
    timeline.scene.draw();
  };
  const onScroll = () => {
    timeline.scrollTop.value = box.scrollTop;
    timeline.hoverAgain();
  };
  timeline.scrollTo = (top) => {
    // The rows may just have been unfolded; the element learns of it with the next rendering.
    requestAnimationFrame(() => {
      box.scrollTop = top;
    });
  };
  const observer = new ResizeObserver(read);
  observer.observe(box);
  read();
  box.addEventListener('scroll', onScroll, { passive: true });
  return () => {
    observer.disconnect();
    box.removeEventListener('scroll', onScroll);
  };
}
