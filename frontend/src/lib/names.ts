/** Long C++ names, tamed: the telling part first. The full name is always one hover away. */

/** Index just past the bracket that closes the one at `open`; -1 when the text ends first. */
function pastClosing(text: string, open: number): number {
  const pairs: Record<string, string> = { '<': '>', '(': ')', '{': '}' };
  const stack: string[] = [];
  for (let i = open; i < text.length; i++) {
    const char = text[i];
    // The arrow of `->` and `operator<` close nothing.
    if (char === '>' && text[i - 1] === '-') continue;
    if (pairs[char]) stack.push(pairs[char]);
    else if (char === stack[stack.length - 1]) {
      stack.pop();
      if (stack.length === 0) return i + 1;
    }
  }
  return -1;
}

function isCpp(name: string): boolean {
  return /^void\s/.test(name) || (/::/.test(name) && /[<(]/.test(name)) || /^\w+(<.*>)?\(.*\)$/.test(name);
}

function dropNamespaces(text: string): string {
  return text
    .replace(/\(anonymous namespace\)::/g, '')
    .replace(/\{lambda\([^()]*\)#\d+\}/g, 'λ')
    .replace(/(?:[A-Za-z_]\w*::)+(?=[A-Za-z_~λ{])/g, '');
}

const ANONYMOUS = '(anonymous namespace)';

/** Without its arguments, `name<…>(…)`, a kernel's name is as telling and half as long. */
function dropArguments(name: string): string | null {
  for (let i = 0; i < name.length; ) {
    if (name.startsWith(ANONYMOUS, i)) {
      i += ANONYMOUS.length;
      continue;
    }
    if (name[i] !== '<' && name[i] !== '(') {
      i++;
      continue;
    }
    const past = pastClosing(name, i);
    // `f(int)::operator()`: the last call is the one that counts.
    const goesOn = past > 0 && (name[i] === '<' || name.startsWith('::', past));
    if (!goesOn) return name[i] === '<' ? null : name.slice(0, i);
    i = past;
  }
  return name;
}

/** Wrappers that say how a functor is applied, not what it does. */
const WRAPPERS = /^(Binary|Unary|AUnary|BUnary|Compare|Opaque)Functor$/;

function functor(parameters: string): string | null {
  const found = [...parameters.matchAll(/\b(\w*(?:Functor|Ops|Op)\w*)(<[^<>]*>)?/g)];
  const telling = found.filter((match) => !WRAPPERS.test(match[1]) && /[A-Z]/.test(match[1]));
  const best = telling[telling.length - 1] ?? lambdaOwner(parameters);
  return best ? best[1] + (best[2] ?? '') : null;
}

/** `threshold_kernel_impl<float>(…)::λ`: the function in which the lambda was written. */
function lambdaOwner(parameters: string): RegExpMatchArray | undefined {
  const owners = [...parameters.matchAll(/\b(\w+_(?:kernel|impl|cuda)\w*)(<[^<>]*>)?\(/g)];
  return owners.find((match) => !match[1].startsWith('gpu_kernel'));
}

const LONG = 44;

function shorten(name: string): string {
  const bare = dropArguments(name.replace(/^void\s+/, ''));
  // Cut short by the profiler: any guess would be wrong.
  if (bare === null) return name;
  const plain = dropNamespaces(bare).replace(/\s+>/g, '>').trim();
  const open = plain.indexOf('<');
  if (open <= 0 || plain.length <= LONG) return plain;
  const base = plain.slice(0, open);
  const inner = plain.slice(open + 1, plain.lastIndexOf('>'));
  const telling = functor(inner);
  if (telling && telling !== inner) return `${base}<…${telling}…>`;
  return `${base}<${inner}>`;
}

const cache = new Map<string, string>();

export function tame(name: string): string {
  if (!isCpp(name)) return name;
  let short = cache.get(name);
  if (short === undefined) {
    short = shorten(name) || name;
    cache.set(name, short);
  }
  return short;
}

/** Plain-text filter: every word must occur, every `-word` must not; case does not count. */
export function wordFilter(query: string): (text: string) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = words.filter((word) => !word.startsWith('-'));
  const refused = words.filter((word) => word.startsWith('-') && word.length > 1).map((word) => word.slice(1));
  return (text) => {
    const lower = text.toLowerCase();
    return wanted.every((word) => lower.includes(word)) && !refused.some((word) => lower.includes(word));
  };
}

/** A run of the log folder itself is called as the folder is. */
export function runLabel(run: string, logdir: string): string {
  if (run !== '' && run !== '.') return run;
  const parts = logdir.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  return parts[parts.length - 1] ?? '(log folder)';
}

/** What the letters of the trace format stand for. */
const PHASES: Record<string, string> = {
  X: 'complete events',
  B: 'begins',
  E: 'ends',
  i: 'instants',
  I: 'instants',
  C: 'counters',
  M: 'metadata',
  s: 'flow starts',
  t: 'flow steps',
  f: 'flow ends',
  b: 'async begins',
  n: 'async instants',
  e: 'async ends',
};

/** `X cpu_op` → `cpu_op, complete events`. */
export function accountLabel(what: string): string {
  const [, phase, category] = /^(\S) (.+)$/.exec(what) ?? [];
  if (!phase || !PHASES[phase]) return what;
  return `${category}, ${PHASES[phase]}`;
}

/** `process 1, thread 7 (thread 7 (python))` → `process 1, thread 7 (python)`. */
export function threadLabel(thread: string): string {
  return thread.replace(/(thread (\d+)) \(thread \2(?: \((.*)\))?\)$/, (_, start: string, _id, name?: string) =>
    name ? `${start} (${name})` : start,
  );
}

const SOURCE = /^(.{1,4096}?)\((\d+)\): (.*)$/s;

/** `/home/ada/train.py(81): main` → its file and line; null where it is no line of a source. */
export function sourcePlace(name: string): { file: string; line: number } | null {
  const [, file, line] = SOURCE.exec(name) ?? [];
  return file === undefined ? null : { file, line: Number(line) };
}

/** `/home/ada/train.py(81): main` → `train.py:81 (main)`; null where it is no line of a source. */
export function sourceLabel(name: string): string | null {
  const [, path, line, rest] = SOURCE.exec(name) ?? [];
  if (path === undefined) return null;
  const file = path.split(/[\\/]/).pop() ?? path;
  return rest === '' ? `${file}:${line}` : `${file}:${line} (${rest})`;
}
