import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { IDLE_PARTS, type IdlePart, idlePart } from '../../model/state';
import type { Info } from '../../model/wire';
import { CriticalPath } from '../critical/section';
import { Blocking } from './blocking';
import { Causes } from './causes';
import { InputPipeline } from './input';
import { Launches } from './launches';

const TITLES: Record<IdlePart, { title: string; help: string }> = {
  causes: { title: 'Causes', help: 'Who kept the GPU waiting' },
  launches: { title: 'Launches', help: 'How soon work starts after its launch, and how much is queued' },
  blocking: { title: 'Blocking calls', help: 'Where the host waits for the device, or manages its memory' },
  input: { title: 'Input', help: 'Data loading and copies, step by step' },
  path: { title: 'Critical path', help: 'What the time of a step was spent on, one thing after the other' },
};

export function IdlePage({ info }: { info: Info }): JSX.Element {
  const part = idlePart.value;
  return (
    <div class="page fixed idle-page" data-testid="page-idle">
      <h1 class="offscreen">GPU idle</h1>
      <Tabs />
      <div
        class="tab-panel"
        role="tabpanel"
        id="idle-panel"
        aria-labelledby={`idle-tab-${part}`}
        data-testid={`part-${part}`}
      >
        <Part part={part} info={info} />
      </div>
    </div>
  );
}

function Part({ part, info }: { part: IdlePart; info: Info }): JSX.Element {
  switch (part) {
    case 'launches':
      return <Launches />;
    case 'blocking':
      return <Blocking />;
    case 'input':
      return <InputPipeline />;
    case 'path':
      return <CriticalPath info={info} />;
    default:
      return <Causes info={info} />;
  }
}

function Tabs(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = (IDLE_PARTS.indexOf(idlePart.value) + by + IDLE_PARTS.length) % IDLE_PARTS.length;
    idlePart.value = IDLE_PARTS[at];
    (box.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Parts of idle time" ref={box} onKeyDown={onKeyDown}>
      {IDLE_PARTS.map((part) => (
        <button
          key={part}
          type="button"
          role="tab"
          id={`idle-tab-${part}`}
          data-testid={`tab-${part}`}
          aria-selected={idlePart.value === part}
          aria-controls="idle-panel"
          tabIndex={idlePart.value === part ? 0 : -1}
          title={TITLES[part].help}
          onClick={() => (idlePart.value = part)}
        >
          {TITLES[part].title}
        </button>
      ))}
    </div>
  );
}
