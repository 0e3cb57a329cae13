/** What TensorBoard's page tells ours: its theme, and that its user asked for fresh data. */
import { attempt } from '../lib/browser';
import { theme } from './state';

function hostBody(): HTMLElement | null {
  return attempt(() => (window.parent !== window ? window.parent.document.body : null), null);
}

/** Follows TensorBoard's light or dark; alone, the system's. */
export function followTheme(): () => void {
  const body = hostBody();
  const media = attempt(() => window.matchMedia('(prefers-color-scheme: dark)'), null);
  const read = () => {
    const dark = body ? body.classList.contains('dark-mode') : (media?.matches ?? false);
    theme.value = dark ? 'dark' : 'light';
    document.documentElement.dataset.theme = theme.value;
  };
  read();
  const observer = new MutationObserver(read);
  if (body) observer.observe(body, { attributes: true, attributeFilter: ['class'] });
  media?.addEventListener('change', read);
  return () => {
    observer.disconnect();
    media?.removeEventListener('change', read);
  };
}

/** Calls back on TensorBoard's reload button and its automatic reload. */
export function onDataReloaded(callback: () => void): void {
  if (window.parent === window) return;
  const channel = new MessageChannel();
  channel.port1.onmessage = (event) => {
    const message = attempt(() => JSON.parse(String(event.data)), null);
    if (message?.type === 'experimental.DataReloaded') callback();
    // The host waits for an answer to each of its messages.
    if (message && !message.isReply) {
      channel.port1.postMessage(
        JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }),
      );
    }
  };
  attempt(() => window.parent.postMessage('experimental.bootstrap', '*', [channel.port2]), undefined);
}
