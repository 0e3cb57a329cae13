import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { recall, remember } from '../../lib/browser';
import { type Selection, selection } from '../../model/state';
import { FrameDetails } from '../flame/details';
import { BlockDetails } from '../memory/details';
import { ModuleDetails } from '../modules/details';
import { OperatorDetails } from '../operators/details';
import { AreaDetails } from './area';
import { EventDetails } from './event';
import { GapDetails } from './gap';
import { KernelDetails } from './kernel';

const LEAST = 120;

/** Details of what is selected, below the page and never over it. */
export function Drawer(): JSX.Element | null {
  const what = selection.value;
  const [height, setHeight] = useState(() => Number(recall('drawer')) || 260);
  const open = what !== null;
  useEffect(() => {
    if (open) requestAnimationFrame(showOrigin);
  }, [open]);
  if (!what) return null;
  const resize = (next: number) => {
    const limited = Math.max(LEAST, Math.min(next, window.innerHeight - 160));
    setHeight(limited);
    remember('drawer', String(Math.round(limited)));
  };
  return (
    <aside class="drawer" data-testid="drawer" aria-label="Details" style={{ height: `${height}px` }}>
      <Handle height={height} resize={resize} />
      <button
        type="button"
        class="drawer-close"
        aria-label="Close details"
        title="Close (Esc)"
        onClick={() => (selection.value = null)}
      >
        ✕
      </button>
      <div class="drawer-body">
        <Details what={what} />
      </div>
    </aside>
  );
}

/** The page gives room to the drawer: the row or picture that it tells about must not be where the page ends now. */
function showOrigin(): void {
  const from = document.querySelector('.page .grid tr.current') ?? document.querySelector('.page .memory-map');
  for (const one of [from?.closest('.panel'), from]) one?.scrollIntoView({ block: 'nearest' });
}

function Details({ what }: { what: Selection }): JSX.Element {
  switch (what.kind) {
    case 'event':
      return <EventDetails id={what.id} />;
    case 'gap':
      return <GapDetails gap={what.gap} />;
    case 'kernel':
      return <KernelDetails key={JSON.stringify(what)} selected={what} />;
    case 'operator':
      return <OperatorDetails key={what.by} selected={what} />;
    case 'module':
      return <ModuleDetails of={what.key} />;
    case 'frame':
      return <FrameDetails selected={what} />;
    case 'block':
      return <BlockDetails wanted={what.block} />;
    case 'area':
      return <AreaDetails window={what} />;
  }
}

function Handle({ height, resize }: { height: number; resize: (height: number) => void }): JSX.Element {
  const grip = useRef<{ y: number; height: number } | null>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by: Record<string, number> = { ArrowUp: 24, ArrowDown: -24 };
    if (event.key in by) {
      event.preventDefault();
      event.stopPropagation();
      resize(height + by[event.key]);
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved is no <hr>
    <div
      class="drawer-handle"
      role="separator"
      aria-orientation="horizontal"
      aria-label="Height of the details"
      aria-valuenow={Math.round(height)}
      aria-valuemin={LEAST}
      aria-valuemax={Math.max(LEAST, window.innerHeight - 160)}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        grip.current = { y: event.clientY, height };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => grip.current && resize(grip.current.height + grip.current.y - event.clientY)}
      onPointerUp={() => {
        grip.current = null;
      }}
    />
  );
}
