import { expect, it } from 'vitest';
import { pageState } from '../src/model/pages';
import type { Info } from '../src/model/wire';

const info = (pages: Record<string, string>) =>
  ({
    pages: Object.fromEntries(Object.entries(pages).map(([page, reason]) => [page, { available: !reason, reason }])),
  }) as Info;

it('lets nobody go where there is nothing to show', () => {
  const some = info({ kernels: 'No device work.', memory: '' });
  expect(pageState(some, 'kernels')).toEqual({ available: false, reason: 'No device work.', pathOnly: false });
  expect(pageState(some, 'memory').available).toBe(true);
  expect(pageState(some, 'overview').available).toBe(true);
  expect(pageState(null, 'kernels').available).toBe(true);
});

it('keeps the critical path in reach where no device worked', () => {
  const host = info({ idle: 'No device work.', operators: '' });
  expect(pageState(host, 'idle')).toEqual({ available: true, reason: 'No device work.', pathOnly: true });
  const nothing = info({ idle: 'No device work.', operators: 'No ops.' });
  expect(pageState(nothing, 'idle')).toMatchObject({ available: false, pathOnly: false });
});
