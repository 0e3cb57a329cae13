import { render } from 'preact';
import { App } from './app';
import { attempt } from './lib/browser';
import { followTheme, onDataReloaded } from './model/host';
import { bindAddress } from './model/location';
import { SourceContext } from './model/remote';
import { followChoice, followFixes, readRuns } from './model/session';
import type { Source } from './model/source';
import { followSelection } from './model/stacks';
import base from './style/base.css?inline';
import frame from './style/frame.css?inline';
import idle from './style/idle.css?inline';
import memory from './style/memory.css?inline';
import pages from './style/pages.css?inline';
import program from './style/program.css?inline';
import timeline from './style/timeline.css?inline';

const TITLE = 'PyTorch Profiler';

export function mount(source: Source): void {
  document.documentElement.lang = 'en';
  document.title = TITLE;
  attempt(() => window.frameElement?.setAttribute('title', TITLE), undefined);
  for (const text of [base, frame, pages, idle, memory, program, timeline]) adoptStyle(text);
  const root = document.createElement('div');
  root.id = 'kinetoscope';
  document.body.append(root);
  followTheme();
  bindAddress();
  followChoice(source);
  followFixes(source);
  followSelection();
  void readRuns(source, false);
  onDataReloaded(() => void readRuns(source, true));
  render(
    <SourceContext.Provider value={source}>
      <App />
    </SourceContext.Provider>,
    root,
  );
  takeFocus();
}

function adoptStyle(text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Keys go nowhere while TensorBoard's page holds the focus. */
function takeFocus(): void {
  attempt(() => window.focus(), undefined);
  window.addEventListener('pointerdown', () => attempt(() => window.focus(), undefined));
}

/** The last resort: plain elements, no framework. */
export function showFailure(error: unknown): void {
  const panel = document.createElement('div');
  panel.setAttribute('role', 'alert');
  panel.dataset.testid = 'problem';
  panel.style.cssText =
    'margin:24px;padding:16px;font:13px system-ui,sans-serif;color:#1c2024;background:#fff;border:1px solid #b3261e';
  const title = document.createElement('h1');
  title.textContent = 'The profiler page could not start';
  title.style.cssText = 'font-size:16px;margin:0 0 8px';
  const detail = document.createElement('pre');
  detail.textContent = error instanceof Error ? (error.stack ?? error.message) : String(error);
  panel.append(title, detail);
  document.body.append(panel);
}
