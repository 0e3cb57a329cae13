import type { JSX } from 'preact';
import { pageState } from '../../model/pages';
import { IDLE_PARTS, type IdlePart, idlePart } from '../../model/state';
import type { Info } from '../../model/wire';
import { CriticalPath } from '../critical/section';
import { Tabs } from '../parts/tabs';
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
  if (pageState(info, 'idle').pathOnly) return <PathOnly info={info} />;
  const part = idlePart.value;
  return (
    <div class="page fixed idle-page" data-testid="page-idle">
      <h1 class="offscreen">GPU idle</h1>
      <Tabs
        id="idle"
        label="Parts of idle time"
        parts={IDLE_PARTS}
        words={TITLES}
        value={part}
        onPick={(next) => (idlePart.value = next)}
      />
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

/** Without a device nothing idles; what the host's time was spent on can be told all the same. */
function PathOnly({ info }: { info: Info }): JSX.Element {
  return (
    <div class="page fixed idle-page" data-testid="page-idle">
      <h1 class="offscreen">Critical path</h1>
      <CriticalPath info={info} />
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
