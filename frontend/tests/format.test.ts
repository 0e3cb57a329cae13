import { describe, expect, it } from 'vitest';
import * as format from '../src/lib/format';

const plain = (text: string) => text.replaceAll('\u202f', ' ');

describe('significant', () => {
  it.each([
    [0, '0'],
    [1, '1.00'],
    [12.345, '12.3'],
    [123.4, '123'],
    [9.996, '10.0'],
    [99.96, '100'],
    [999.4, '999'],
    [999.6, '1 000'],
    [1234567, '1 234 567'],
    [0.0123, '0.012'],
    [0.0004, '<0.001'],
    [-12.345, '−12.3'],
  ])('%d is %s', (value, text) => {
    expect(plain(format.significant(value))).toBe(text);
  });
});

describe('times', () => {
  it.each([
    [0, '0 µs'],
    [12, '12 ns'],
    [1500, '1.50 µs'],
    [177_592_000, '178 ms'],
    [999_999, '1.00 ms'],
    [2.5e9, '2.50 s'],
    [null, '—'],
  ])('%j ns is %s', (value, text) => {
    expect(plain(format.duration(value))).toBe(text);
  });

  it('has one unit a column, by the middle of what is not zero', () => {
    const scale = format.medianScale([0, 0, 0, 0, 1500, null, 2120, 345_678_000]);
    const shown = [2120, 12, 345_678_000, 0, null].map((value) => plain(format.scaled(value, scale)));
    expect([scale.unit, ...shown]).toEqual(['µs', '2.12', '0.012', '345 678', '0', '—']);
    expect(format.medianScale([]).unit).toBe('µs');
    expect(format.medianScale([1, 1, 1, 17_000]).unit).toBe('µs');
    expect(format.medianScale([1, 1, 1, 170]).unit).toBe('ns');
  });

  it('has no more than three decimals: what is far smaller than its column names its own unit', () => {
    const scale = format.timeScale(2_500_000);
    const values = [1_234_000, 2120, 25_300, 12, 1000, -2120, 0];
    const shown = values.map((value) => plain(format.scaled(value, scale)));
    expect([scale.unit, ...shown]).toEqual(['ms', '1.23', '2.12 µs', '0.025', '12 ns', '0.001', '−2.12 µs', '0']);
    const seconds = format.timeScale(2.5e9);
    expect([1_760, 3.2e9].map((value) => plain(format.scaled(value, seconds)))).toEqual(['1.76 µs', '3.20']);
  });

  it('names one unit, not two, where a value has its own', () => {
    const scale = format.timeScale(2_500_000);
    expect([2120, 1_234_000].map((value) => plain(format.withUnit(value, scale)))).toEqual(['2.12 µs', '1.23 ms']);
  });

  it('has no zeros behind a round value of an axis', () => {
    const scale = format.timeScale(40e6);
    expect([30e6, 2.5e6, 0].map((value) => format.tick(value, scale))).toEqual(['30', '2.5', '0']);
    expect(plain(format.tickWithUnit(10e3, format.timeScale(10e3)))).toBe('10 µs');
  });

  it('tells the exact value', () => {
    expect(plain(format.exactTime(12_345_678))).toBe('12 345.678 µs');
    expect(format.exactTime(null)).toBe('not recorded');
  });

  it('tells instants apart by the step of the ruler', () => {
    expect(plain(format.instant(1_234_567_891, 10))).toBe('1.23456789 s');
    expect(plain(format.instant(57_942_000, 1e3))).toBe('57.942 ms');
    expect(plain(format.instant(0, 1e6))).toBe('0 ms');
  });
});

describe('the rest', () => {
  it('never shows 0 for what was not recorded', () => {
    for (const show of [format.count, format.percent, format.fileSize, format.memorySize, format.duration]) {
      expect(show(null)).toBe('—');
      expect(show(Number.NaN)).toBe('—');
    }
  });

  it('shows percents, files and memory in their units', () => {
    expect(plain(format.percent(57.123))).toBe('57.1 %');
    expect(plain(format.percent(0.01))).toBe('<0.1 %');
    expect(plain(format.fileSize(35_200_000))).toBe('35.2 MB');
    expect(plain(format.memorySize(85_899_345_920))).toBe('80.0 GiB');
  });

  it('reads units of the backend', () => {
    expect(plain(format.quantity(1500, 'us'))).toBe('1.50 ms');
    expect(plain(format.quantity(57, 'pct'))).toBe('57.0 %');
    expect(plain(format.quantity(1152, 'count'))).toBe('1 152');
    expect(format.quantity(null, 'us')).toBe('—');
  });

  it('makes labels of keys', () => {
    expect(format.humanise('sm_efficiency_pct:1')).toBe('SM efficiency, GPU 1');
    expect(format.humanise('gpu_idle_us')).toBe('GPU idle');
    expect(format.humanise('step_time_median_us')).toBe('Step time median');
  });
});
