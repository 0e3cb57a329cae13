import type { JSX } from 'preact';
import { go, info, PAGES, page } from '../../model/state';

export function Rail(): JSX.Element {
  const pages = info.value?.pages ?? {};
  return (
    <nav class="rail" aria-label="Pages">
      {PAGES.map((one) => {
        const told = pages[one.page];
        const off = told?.available === false;
        return (
          <button
            type="button"
            key={one.page}
            data-testid={`rail-${one.page}`}
            aria-current={page.value === one.page ? 'page' : undefined}
            aria-disabled={off}
            title={off ? told.reason : `g ${one.key}`}
            onClick={() => !off && go(one.page)}
          >
            {one.title}
            {off && <span class="offscreen">: {told.reason}</span>}
          </button>
        );
      })}
    </nav>
  );
}
