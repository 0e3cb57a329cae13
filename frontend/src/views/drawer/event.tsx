import type { ComponentChildren, JSX } from 'preact';
import { count, duration, exactTime, instant, MISSING, plural } from '../../lib/format';
import { tame, threadLabel } from '../../lib/names';
import { useEvent } from '../../model/remote';
import { findEvents, info, selection, showInTimeline } from '../../model/state';
import type { EventDetail, Ref } from '../../model/wire';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';

export function EventDetails({ id }: { id: number }): JSX.Element {
  const { data, problem } = useEvent(id);
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Reading the event…" />;
  return (
    <div class="details">
      <Title event={data} />
      <div class="details-columns">
        <Facts event={data} />
        <Links event={data} />
        <Stack event={data} />
        <Arguments event={data} />
      </div>
    </div>
  );
}

function Title({ event }: { event: EventDetail }): JSX.Element {
  return (
    <header class="details-title">
      <Swatch kind={event.kind} />
      <h2 title={event.name}>{tame(event.name)}</h2>
      <CopyButton text={event.name} label="Copy name" />
      <button
        type="button"
        class="quiet"
        onClick={() => showInTimeline(event.start_ns, event.duration_ns, { kind: 'event', id: event.id })}
      >
        Show in timeline
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          findEvents(`"${event.name}"`);
        }}
      >
        Find all of this name
      </button>
    </header>
  );
}

function Facts({ event }: { event: EventDetail }): JSX.Element {
  const step = info.value?.steps.find((one) => one.start_ns <= event.start_ns && event.start_ns < one.end_ns);
  const same = event.same_name;
  const where =
    event.device === null
      ? threadLabel(event.thread)
      : `GPU ${event.device}${event.stream === null ? '' : `, stream ${event.stream}`}`;
  return (
    <Block title={event.unfinished ? 'Unfinished event' : 'Event'}>
      <dl class="facts">
        <Fact
          name="Duration"
          value={event.unfinished ? `at least ${duration(event.duration_ns)}` : duration(event.duration_ns)}
          hover={exactTime(event.duration_ns)}
        />
        <Fact name="Start" value={instant(event.start_ns, 1e3)} hover={exactTime(event.start_ns)} />
        {step && (
          <Fact
            name={`In ${step.name}`}
            value={`+${duration(event.start_ns - step.start_ns)}`}
            hover={exactTime(event.start_ns - step.start_ns)}
          />
        )}
        <Fact name="Kind" value={`${event.kind.replace('_', ' ')} (${event.category})`} />
        <Fact name="On" value={where || MISSING} />
        {event.step !== null && <Fact name="Step" value={String(event.step)} />}
        {event.correlation !== null && <Fact name="Correlation" value={String(event.correlation)} />}
        <Fact
          name="Same name"
          value={`${plural(same.calls, 'call')}, ${duration(same.total_ns)}`}
          hover={exactTime(same.total_ns)}
        />
        <Fact
          name="Mean, min – max"
          value={`${duration(same.mean_ns)}, ${duration(same.min_ns)} – ${duration(same.max_ns)}`}
          hover={exactTime(same.mean_ns)}
        />
      </dl>
    </Block>
  );
}

export function Fact({ name, value, hover }: { name: string; value: ComponentChildren; hover?: string }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd title={hover}>{value}</dd>
    </>
  );
}

interface BlockProps {
  title: string;
  /** Long lists of facts scroll, so that keys must reach them. */
  scrolls?: boolean;
  children: ComponentChildren;
}

export function Block({ title, scrolls = false, children }: BlockProps): JSX.Element {
  return (
    <section class="block" tabIndex={scrolls ? 0 : undefined} aria-label={scrolls ? title : undefined}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** An event by name; a click selects it and shows it. */
export function RefButton({ event }: { event: Ref }): JSX.Element {
  return (
    <button
      type="button"
      class="ref"
      title={`${event.name}\n${exactTime(event.duration_ns)}`}
      onClick={() => {
        selection.value = { kind: 'event', id: event.id };
      }}
    >
      <Swatch kind={event.kind} />
      <span class="name">{tame(event.name)}</span>
      <span class="muted">{duration(event.duration_ns)}</span>
    </button>
  );
}

function Links({ event }: { event: EventDetail }): JSX.Element | null {
  const single: [string, Ref | null][] = [
    ['Operator', event.op],
    ['Launched by', event.launch],
    ['Forward', event.forward],
  ];
  const some = single.filter((pair): pair is [string, Ref] => pair[1] !== null);
  if (some.length + event.works.length + event.backward.length === 0) return null;
  return (
    <Block title="Links">
      {some.map(([title, ref]) => (
        <div class="link" key={title}>
          <span class="muted">{title}</span>
          <RefButton event={ref} />
        </div>
      ))}
      <LinkList title="Backward" refs={event.backward} total={event.backward.length} />
      <LinkList title="Device work" refs={event.works} total={event.works_total} />
    </Block>
  );
}

const LISTED = 12;

function LinkList({ title, refs, total }: { title: string; refs: Ref[]; total: number }): JSX.Element | null {
  if (refs.length === 0) return null;
  return (
    <div class="link">
      <span class="muted">{total > 1 ? `${title} (${count(total)})` : title}</span>
      {refs.slice(0, LISTED).map((ref) => (
        <RefButton key={ref.id} event={ref} />
      ))}
      {total > LISTED && <span class="muted">and {count(total - LISTED)} more</span>}
    </div>
  );
}

function Stack({ event }: { event: EventDetail }): JSX.Element | null {
  if (event.parents.length === 0) return null;
  return (
    <Block title="Stack, outermost first">
      {event.parents.map((parent) => (
        <RefButton key={parent.id} event={parent} />
      ))}
    </Block>
  );
}

function Arguments({ event }: { event: EventDetail }): JSX.Element | null {
  const entries = Object.entries(event.args);
  if (entries.length === 0) return null;
  return (
    <Block title="Arguments">
      <dl class="facts">
        {entries.map(([key, value]) => {
          const text = typeof value === 'string' ? value : JSON.stringify(value);
          return <Fact key={key} name={key} value={<span class="mono">{text}</span>} hover={text} />;
        })}
      </dl>
      <CopyButton text={JSON.stringify(event.args, null, 1)} label="Copy as JSON" />
    </Block>
  );
}
