/** What the page may never do: see the content security policy and the base element of TensorBoard's frame. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../src');

function sources(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? sources(path) : [path];
  });
}

const BANNED: [string, RegExp][] = [
  ['markup from text', /innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML/],
  ['code from text', /\beval\(|new Function|setTimeout\(\s*['"`]/],
  ['other hosts', /https?:\/\/|\bwss?:\/\//],
  ['the topmost window', /window\.top|\btop\.location/],
  ['addresses of our own origin', /location\.origin|fetch\(\s*['"`]\//],
  ['hash links, which TensorBoard turns into a 404', /href=["'{]+\s*#/],
  ['inline workers', /\?worker|new Worker\(\s*['"`](blob|data):/],
  ['paint servers by fragment', /url\(#/],
];

it.each(BANNED)('no %s', (_, pattern) => {
  const guilty = sources(ROOT).filter((path) => pattern.test(readFileSync(path, 'utf8')));
  expect(guilty).toEqual([]);
});

it('no file is longer than 400 lines', () => {
  const long = sources(ROOT).filter(
    (path) => /\.tsx?$/.test(path) && readFileSync(path, 'utf8').split('\n').length > 401,
  );
  expect(long).toEqual([]);
});
