import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { pageState } from './model/pages';
import { useSource } from './model/remote';
import { readRuns, reloadTrace } from './model/session';
import * as state from './model/state';
import type { Info } from './model/wire';
import { TimelinePage } from './timeline/page';
import { Drawer } from './views/drawer/drawer';
import { FlamePage } from './views/flame/page';
import { FixedBanner } from './views/frame/fixes';
import { HelpSheet } from './views/frame/help';
import { bindKeys } from './views/frame/keys';
import { Rail } from './views/frame/rail';
import { Cancelled, EmptyFolder, Failed, Loading, Scanning } from './views/frame/states';
import { TopBar } from './views/frame/topbar';
import { IdlePage } from './views/idle/page';
import { KernelsPage } from './views/kernels/page';
import { MemoryPage } from './views/memory/page';
import { ModulesPage } from './views/modules/page';
import { OperatorsPage } from './views/operators/page';
import { OverviewPage } from './views/overview/page';

export function App(): JSX.Element {
  useEffect(bindKeys, []);
  return (
    <div class="app">
      <TopBar />
      <Rail />
      <main>
        <Banners />
        <Content />
      </main>
      <HelpSheet />
    </div>
  );
}

function Banners(): JSX.Element {
  const source = useSource();
  const synthetic = state.info.value?.synthetic;
  return (
    <>
      {synthetic && (
        <p class="banner synthetic" data-testid="synthetic">
          <b>Synthetic trace</b> {synthetic}
        </p>
      )}
      <FixedBanner />
      {state.session.value?.changed && (
        <p class="banner" role="status" data-testid="changed">
          The file changed on disk since it was loaded.{' '}
          <button type="button" onClick={() => reloadTrace(source)}>
            Reload it
          </button>
        </p>
      )}
      {state.notices.value.map((text) => (
        <p class="banner" role="status" key={text} data-testid="notice">
          {text}{' '}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => state.dropNotice(text)}>
            ✕
          </button>
        </p>
      ))}
    </>
  );
}

function Content(): JSX.Element {
  const source = useSource();
  const runs = state.runs.value;
  const problem = state.runsProblem.value ?? runs?.error ?? null;
  if (problem && state.chosen.value === null)
    return <Failed problem={problem} retry={() => void readRuns(source, true)} />;
  if (!runs || (runs.state === 'scanning' && runs.runs.length === 0)) return <Scanning runs={runs} />;
  if (!state.chosen.value) return <EmptyFolder runs={runs} />;
  const info = state.info.value;
  if (!info) return <Waiting file={state.chosen.value.span.file} />;
  return (
    <>
      <Page info={info} />
      <Drawer />
    </>
  );
}

function Waiting({ file }: { file: string }): JSX.Element {
  const source = useSource();
  const session = state.session.value;
  const problem = state.sessionProblem.value ?? session?.error ?? null;
  const retry = () => void reloadTrace(source);
  if (problem) {
    const others = (state.chosen.value?.run.ranks.length ?? 0) > 1;
    return (
      <Failed
        problem={problem}
        retry={retry}
        note={others ? 'The other ranks stay usable: pick one above.' : undefined}
      />
    );
  }
  if (session?.state === 'cancelled') return <Cancelled file={file} />;
  return <Loading session={session} file={file} />;
}

function Page({ info }: { info: Info }): JSX.Element {
  const told = pageState(info, state.page.value);
  if (!told.available) {
    return (
      <div class="state" data-testid={`page-${state.page.value}`}>
        <h1>Nothing to show here</h1>
        <p>{told.reason}</p>
      </div>
    );
  }
  switch (state.page.value) {
    case 'timeline':
      return <TimelinePage info={info} />;
    case 'idle':
      return <IdlePage info={info} />;
    case 'kernels':
      return <KernelsPage />;
    case 'operators':
      return <OperatorsPage />;
    case 'modules':
      return <ModulesPage />;
    case 'flame':
      return <FlamePage />;
    case 'memory':
      return <MemoryPage info={info} />;
    default:
      return <OverviewPage info={info} />;
  }
}
