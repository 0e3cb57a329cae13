import type { JSX } from 'preact';
import { count, duration, fileSize, humanise, MISSING, memorySize } from '../../lib/format';
import { accountLabel } from '../../lib/names';
import type { Info } from '../../model/wire';
import { Section, Swatch } from '../parts/bits';

const SWITCHES: { key: keyof Info['switches']; label: string }[] = [
  { key: 'shapes', label: 'record_shapes' },
  { key: 'memory', label: 'profile_memory' },
  { key: 'stacks', label: 'with_stack' },
  { key: 'modules', label: 'with_modules' },
  { key: 'flops', label: 'with_flops' },
];

/** What was recorded, on what, and where each event of the file went. */
export function Recording({ info }: { info: Info }): JSX.Element {
  return (
    <div class="columns">
      <Section title="Recording">
        <dl class="facts">
          <Fact name="File" value={info.file} />
          <Fact name="Size" value={`${fileSize(info.bytes)}, ${count(info.events)} events, ${duration(info.end_ns)}`} />
          {info.devices.map((one) => (
            <Fact key={one.device} name={`GPU ${one.device}`} value={deviceLine(one)} />
          ))}
          {info.recording.map((one) => (
            <Fact key={one.key} name={humanise(one.key)} value={one.value} />
          ))}
          <dt>Switches</dt>
          <dd>
            {SWITCHES.map((one) => (
              <span key={one.key} class={info.switches[one.key] ? 'switch on' : 'switch'}>
                <span aria-hidden="true">{info.switches[one.key] ? '✓' : '–'}</span> {one.label}
                <span class="offscreen">{info.switches[one.key] ? ' on' : ' off'}</span>
              </span>
            ))}
          </dd>
        </dl>
      </Section>
      <Accounting info={info} />
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd title={value}>{value || MISSING}</dd>
    </>
  );
}

function deviceLine(one: Info['devices'][number]): string {
  const parts = [one.name ?? 'unnamed device', one.capability && `capability ${one.capability}`];
  if (one.sm_count !== null) parts.push(`${one.sm_count} multiprocessors`);
  if (one.memory_bytes !== null) parts.push(memorySize(one.memory_bytes));
  return parts.filter(Boolean).join(', ');
}

function Accounting({ info }: { info: Info }): JSX.Element {
  const kinds = Object.entries(info.kinds)
    .filter(([, events]) => events > 0)
    .sort((a, b) => b[1] - a[1]);
  return (
    <Section title="Where each event of the file went">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Why</th>
            <th scope="col" class="number">
              Events
            </th>
          </tr>
        </thead>
        <tbody>
          {info.accounting.map((one) => (
            <tr key={`${one.what} ${one.reason}`} class={one.kept ? undefined : 'muted'}>
              <td>
                <span aria-hidden="true">{one.kept ? '✓' : '✕'}</span> {accountLabel(one.what)}
                <span class="offscreen">{one.kept ? ', kept' : ', left out'}</span>
              </td>
              <td class="wrap">{one.reason}</td>
              <td class="number">{count(one.events)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul class="legend">
        {kinds.map(([kind, events]) => (
          <li key={kind}>
            <Swatch kind={kind} />
            {kind.replace('_', ' ')} <b>{count(events)}</b>
          </li>
        ))}
      </ul>
    </Section>
  );
}
