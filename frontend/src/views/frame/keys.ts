import { isTyping } from '../../lib/browser';
import { pageState } from '../../model/pages';
import { go, helpOpen, info, PAGES, selection } from '../../model/state';
import { keepsKeys } from '../parts/popup';

/** How long a `g` waits for its second key. */
const PAIR_MS = 1200;

const ACTIONS: Record<string, () => void> = {
  '/': focusSearch,
  '?': () => {
    helpOpen.value = true;
  },
  Escape: closeTopmost,
};

/** Keys that work on every page; returns what takes them off again. */
export function bindKeys(): () => void {
  let waiting = 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || keepsKeys(event.target)) return;
    const goes = event.timeStamp < waiting && turnPage(event.key);
    waiting = event.key === 'g' ? event.timeStamp + PAIR_MS : 0;
    if (goes || event.key in ACTIONS) event.preventDefault();
    if (!goes) ACTIONS[event.key]?.();
  };
  // Capture: `g o` must not reach the timeline, where letters steer; it leaves prevented events alone.
  window.addEventListener('keydown', onKeyDown, true);
  return () => window.removeEventListener('keydown', onKeyDown, true);
}

function turnPage(key: string): boolean {
  const found = PAGES.find((one) => one.key === key);
  if (!found || !pageState(info.value, found.page).available) return false;
  go(found.page);
  return true;
}

function focusSearch(): void {
  const box = document.querySelector<HTMLInputElement>('[data-testid=search-box]');
  box?.focus();
  box?.select();
}

function closeTopmost(): void {
  if (helpOpen.value) helpOpen.value = false;
  else selection.value = null;
}
