import type { JSX } from 'preact';
import { count, percent, plural } from '../../lib/format';
import { type Check, capital, hasEvents, readChecks, SEVERITY_WORDS, tally } from '../../model/health';
import { useTable } from '../../model/remote';
import { healthOpen, showCheck } from '../../model/state';
import { describe } from '../../model/tables';
import type { Severity, Table } from '../../model/wire';
import { Busy, ProblemBox } from '../parts/bits';
import { Help } from '../parts/help';
import { ScrollBox } from '../parts/scroll';
import { SeveritySign, SeverityWord } from '../parts/severity';

/** What was and was not recorded: a green line, or the worst that a check has found; all checks on demand. */
export function HealthStrip(): JSX.Element {
  const { data, problem } = useTable('health', {});
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Checking the recording…" />;
  return <Strip table={data} checks={readChecks(data)} />;
}

function Strip({ table, checks }: { table: Table; checks: Check[] }): JSX.Element {
  const worst = checks[0]?.severity ?? 'ok';
  const good = worst === 'ok' || worst === 'info';
  const open = healthOpen.value;
  const tone = good ? 'ok' : worst;
  return (
    <section
      class={`health ${tone}`}
      data-testid="health-strip"
      data-worst={worst}
      aria-label="Health of the recording"
    >
      <div class="health-line">
        <SeveritySign severity={tone} />
        {good ? <Good checks={checks} /> : <Worst check={checks[0]} />}
        {!good && hasEvents(checks[0]) && <Show check={checks[0]} label="Show in timeline" primary />}
        <button
          type="button"
          class="quiet"
          data-testid="health-toggle"
          aria-expanded={open}
          onClick={() => (healthOpen.value = !open)}
        >
          {open ? 'Hide the checks' : good ? `All ${count(checks.length)} checks` : others(checks)}
        </button>
      </div>
      {open && <Checks table={table} checks={checks} />}
    </section>
  );
}

/** What else was found, beside the worst. */
function others(checks: Check[]): string {
  const counts: Partial<Record<Severity, number>> = {};
  for (const one of checks.slice(1)) counts[one.severity] = (counts[one.severity] ?? 0) + 1;
  const told = tally(counts);
  return told === '' ? `All ${count(checks.length)} checks` : `${told} more`;
}

function Good({ checks }: { checks: Check[] }): JSX.Element {
  const infos = checks.filter((one) => one.severity === 'info');
  return (
    <p class="health-text">
      <b>Recorded completely.</b>{' '}
      {infos.length === 0
        ? `All ${plural(checks.length, 'check')} found nothing to remark.`
        : infos.map((one) => one.detail).join(' ')}
    </p>
  );
}

function Worst({ check }: { check: Check }): JSX.Element {
  return (
    <p class="health-text">
      <b>
        {SEVERITY_WORDS[check.severity]}: {check.check}
        {check.count ? ` (${count(check.count)})` : ''}.
      </b>{' '}
      {check.detail} <span class="muted">{check.hint}</span>
    </p>
  );
}

function Show({ check, label, primary }: { check: Check; label: string; primary?: boolean }): JSX.Element {
  return (
    <button
      type="button"
      class={primary ? 'primary' : 'quiet'}
      data-testid="health-show"
      data-check={check.check}
      title={`Go through the ${count(check.count)} of “${check.check}” in the timeline`}
      onClick={() => showCheck(check.check)}
    >
      {label}
    </button>
  );
}

function Checks({ table, checks }: { table: Table; checks: Check[] }): JSX.Element {
  return (
    <ScrollBox>
      <table class="plain checks">
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">Check</th>
            <th scope="col" class="number">
              <Help text={describe(table, 'count')}>Count</Help>
            </th>
            <th scope="col" class="number">
              <Help text={describe(table, 'share_pct')}>Share</Help>
            </th>
            <th scope="col">What was found, and what to do</th>
            <th scope="col">
              <span class="offscreen">Events</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {checks.map((one) => (
            <CheckRow key={one.check} check={one} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function CheckRow({ check }: { check: Check }): JSX.Element {
  return (
    <tr data-testid="health-row" data-check={check.check} data-severity={check.severity}>
      <td>
        <SeverityWord severity={check.severity} />
      </td>
      <td>{capital(check.check)}</td>
      <td class="number">{count(check.count)}</td>
      <td class="number">{percent(check.share)}</td>
      <td class="wrap">
        {check.detail} {check.hint && <span class="muted">{check.hint}</span>}
      </td>
      <td class="number">{hasEvents(check) && <Show check={check} label="Show events" />}</td>
    </tr>
  );
}
