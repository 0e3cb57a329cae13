import type { JSX } from 'preact';
import { count, duration, fileSize, percent, plural } from '../../lib/format';
import { useSource } from '../../model/remote';
import { cancelLoading, readRuns, reloadTrace } from '../../model/session';
import type { Problem, Runs, Session } from '../../model/wire';
import { CopyButton, ProblemBox } from '../parts/bits';

export function Scanning({ runs }: { runs: Runs | null }): JSX.Element {
  return (
    <div class="state" data-testid="loading" role="status">
      <h1>Looking for traces</h1>
      <p class="muted mono">{runs?.logdir}</p>
      {runs && runs.folders > 0 && <p>{count(runs.folders)} folders looked at.</p>}
      <div class="progress" role="progressbar" aria-label="Looking for traces">
        <div class="progress-bar endless" />
      </div>
    </div>
  );
}

const SNIPPET = `import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=1, warmup=1, active=5),
    on_trace_ready=tensorboard_trace_handler("LOGDIR"),
    record_shapes=True,
    with_stack=True,
) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()
`;

export function EmptyFolder({ runs }: { runs: Runs }): JSX.Element {
  const source = useSource();
  const snippet = SNIPPET.replace('LOGDIR', runs.logdir.replaceAll('\\', '/') || './log');
  return (
    <div class="state" data-testid="empty">
      <h1>No traces in this folder yet</h1>
      <p>
        Looked in <span class="mono">{runs.logdir}</span> and below for files named{' '}
        <span class="mono">*.pt.trace.json</span> or <span class="mono">*.pt.trace.json.gz</span>. Record a few steps
        like this:
      </p>
      <pre class="snippet">{snippet}</pre>
      <p class="row">
        <CopyButton text={snippet} label="Copy the snippet" />
        <button type="button" class="primary" onClick={() => readRuns(source, true)}>
          Look again
        </button>
      </p>
      <FileProblems runs={runs} />
    </div>
  );
}

export function FileProblems({ runs }: { runs: Runs }): JSX.Element | null {
  if (runs.problems.length === 0) return null;
  return (
    <details class="file-problems">
      <summary>{plural(runs.problems.length, 'remark')} on the files and runs of this folder</summary>
      <ul>
        {runs.problems.map((one) => (
          <li key={one.file + one.code}>
            <span class="mono">{one.file}</span>: {one.message}
          </li>
        ))}
      </ul>
    </details>
  );
}

const STAGES: Record<Session['stage'], string> = {
  start: 'Starting',
  read: 'Reading the file',
  decode: 'Decoding events',
  link: 'Linking events',
  done: 'Finishing',
};

export function Loading({ session, file }: { session: Session | null; file: string }): JSX.Element {
  const source = useSource();
  const share = session && session.bytes_total > 0 ? (100 * session.bytes_done) / session.bytes_total : 0;
  return (
    <div class="state" data-testid="loading" role="status">
      <h1>{session?.state === 'queued' ? 'Waiting for another trace to load' : STAGES[session?.stage ?? 'start']}</h1>
      <p class="mono muted">{file}</p>
      <div
        class="progress"
        role="progressbar"
        aria-label="Bytes read"
        aria-valuenow={Math.round(share)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <div class="progress-bar" style={{ width: `${share}%` }} />
      </div>
      {session && (
        <p class="figures">
          {fileSize(session.bytes_done)} of {fileSize(session.bytes_total)} ({percent(share)}) · {count(session.events)}{' '}
          events · {duration(session.elapsed_ms * 1e6)}
        </p>
      )}
      <button type="button" onClick={() => cancelLoading(source)}>
        Cancel
      </button>
    </div>
  );
}

export function Cancelled({ file }: { file: string }): JSX.Element {
  const source = useSource();
  return (
    <div class="state">
      <h1>Loading was cancelled</h1>
      <p class="mono muted">{file}</p>
      <button type="button" class="primary" onClick={() => reloadTrace(source)}>
        Load it
      </button>
    </div>
  );
}

export function Failed({ problem, retry, note }: { problem: Problem; retry: () => void; note?: string }): JSX.Element {
  return (
    <div class="state">
      <h1>This could not be read</h1>
      <ProblemBox problem={problem}>
        <p class="row">
          <button type="button" class="primary" onClick={retry}>
            Try again
          </button>
          <CopyButton text={JSON.stringify(problem, null, 1)} label="Copy the details" />
        </p>
      </ProblemBox>
      {note && <p class="muted">{note}</p>}
    </div>
  );
}
