import type { JSX } from 'preact';
import { count } from '../../lib/format';
import { badgeOf } from '../../model/health';
import { pageState } from '../../model/pages';
import { chosen, go, info, PAGES, page, runs } from '../../model/state';

const NO_TRACE = { available: false, reason: 'No trace in this folder', pathOnly: false };

export function Rail(): JSX.Element {
  // With no trace at all there is nowhere to go.
  const none = runs.value?.state === 'ready' && chosen.value === null;
  return (
    <nav class="rail" aria-label="Pages">
      {PAGES.map((one) => {
        const told = none ? NO_TRACE : pageState(info.value, one.page);
        const off = !told.available;
        return (
          <button
            type="button"
            key={one.page}
            data-testid={`rail-${one.page}`}
            aria-current={!none && page.value === one.page ? 'page' : undefined}
            aria-disabled={off}
            title={off ? told.reason : `g ${one.key}${told.reason && `: ${told.reason}`}`}
            onClick={() => !off && go(one.page)}
          >
            {told.pathOnly ? 'Critical path' : one.title}
            {one.page === 'overview' && <HealthBadge />}
            {off && <span class="offscreen">: {told.reason}</span>}
          </button>
        );
      })}
    </nav>
  );
}

/** How many checks found something wrong; the overview tells what. */
function HealthBadge(): JSX.Element | null {
  const badge = info.value && badgeOf(info.value.health);
  if (!badge) return null;
  return (
    <span
      class={`badge ${badge.severity}`}
      data-testid="health-badge"
      data-severity={badge.severity}
      role="img"
      aria-label={badge.told}
      title={badge.told}
    >
      {count(badge.count)}
    </span>
  );
}
