import type { JSX } from 'preact';
import { useTable } from '../../model/remote';
import { runs } from '../../model/state';
import type { Info } from '../../model/wire';
import { FileProblems } from '../frame/states';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { Cards } from './cards';
import { Devices } from './devices';
import { Findings } from './findings';
import { HealthStrip } from './health';
import { Notes } from './notes';
import { Recording } from './recording';
import { Steps } from './steps';
import { Verdict } from './verdict';

export function OverviewPage({ info }: { info: Info }): JSX.Element {
  const steps = useTable('steps', {});
  const devices = useTable('devices', {});
  const overview = useTable('overview', {});
  const causes = useTable('idle', { by: 'cause' });
  const problem = steps.problem ?? devices.problem ?? overview.problem;
  return (
    <div class="page scroll" data-testid="page-overview">
      <h1 class="offscreen">Overview</h1>
      <HealthStrip />
      {problem && <ProblemBox problem={problem} />}
      {steps.data && devices.data ? (
        <Verdict info={info} steps={steps.data} devices={devices.data} causes={causes.data} />
      ) : (
        !problem && <Busy what="Adding up the steps…" />
      )}
      <Notes notes={info.notes} />
      <Findings causes={causes.data} />
      {overview.data && <Cards table={overview.data} />}
      {steps.data && (steps.data.rows > 0 ? <Steps table={steps.data} info={info} /> : <NoSteps />)}
      {devices.data && <Devices table={devices.data} info={info} />}
      <Recording info={info} />
      {runs.value && <FileProblems runs={runs.value} />}
    </div>
  );
}

function NoSteps(): JSX.Element {
  return (
    <Section title="Steps">
      <p class="hint">
        No steps were marked in this recording. Call <code>prof.step()</code> once per iteration of the training loop,
        and every figure here comes per step too.
      </p>
    </Section>
  );
}
