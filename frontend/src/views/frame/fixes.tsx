import type { JSX } from 'preact';
import { FIX_WORDS } from '../../model/health';
import { fixes, info, setFix } from '../../model/state';
import type { Fix } from '../../model/wire';

/** A switch for each fix that would change this trace: the recording as it is, or repaired. */
export function FixSwitches(): JSX.Element {
  return (
    <>
      {info.value?.fixes.map((one) => (
        <FixSwitch key={one.fix} fix={one} />
      ))}
    </>
  );
}

function FixSwitch({ fix: { fix, events } }: { fix: Fix }): JSX.Element {
  const words = FIX_WORDS[fix];
  const on = fixes.value.includes(fix);
  return (
    <button
      type="button"
      role="switch"
      class="fix"
      data-testid={`fix-${fix}`}
      aria-checked={on}
      aria-label={`${words.title(events)}: ${words.on} instead of raw`}
      title={words.help}
      onClick={() => setFix(fix, !on)}
    >
      <span class="fix-title">{words.title(events)}</span>
      <span class={on ? 'fix-side' : 'fix-side on'}>raw</span>
      <span class={on ? 'fix-side on' : 'fix-side'}>{words.on}</span>
    </button>
  );
}

/** On every page: these figures are not what was recorded. */
export function FixedBanner(): JSX.Element | null {
  const applied = info.value?.fixes.filter((one) => one.applied && fixes.value.includes(one.fix)) ?? [];
  if (applied.length === 0) return null;
  return (
    <p class="banner synthetic" role="status" data-testid="fixed">
      <b>Figures are repaired.</b> {applied.map((one) => FIX_WORDS[one.fix].told(one.events)).join(' ')}{' '}
      <button
        type="button"
        onClick={() => {
          for (const one of applied) setFix(one.fix, false);
        }}
      >
        Show raw
      </button>
    </p>
  );
}
