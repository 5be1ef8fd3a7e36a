import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Series } from './chart.ts'
import { dayTicks, formatTimeTick, TIME_STEPS, valueAxis } from './scale.ts'

const series = (...values: (number | null)[]): Series => ({ key: 'a', label: 'A', color: 'chart-1', values })

test('the axis starts at 0, contains every value and has at most six ticks', () => {
  for (const highest of [0.03, 0.9, 1, 7, 12, 99, 100, 101, 4999, 1_000_000]) {
    const { top, ticks } = valueAxis({ kind: 'lines', series: [series(highest, null, 0)] })
    assert.equal(ticks[0], 0)
    assert.equal(ticks.at(-1), top)
    assert.ok(top >= highest, `${top} ${highest}`)
    assert.ok(ticks.length <= 6, `${ticks}`)
  }
})

test('counts have no ticks between whole numbers', () => {
  assert.deepEqual(valueAxis({ kind: 'bars', series: [series(0, 1, 2)], isCount: true }).ticks, [0, 1, 2])
  assert.deepEqual(valueAxis({ kind: 'bars', series: [series(0)], isCount: true }).ticks, [0, 1])
})

test('values on top of each other are added, lines are not', () => {
  const both = [series(3, 4), series(5, null)]
  assert.equal(valueAxis({ kind: 'areas', series: both, isCount: true }).top, 8)
  assert.equal(valueAxis({ kind: 'lines', series: both, isCount: true }).top, 5)
})

test('times have steps of minutes, hours and days', () => {
  assert.deepEqual(
    valueAxis({ kind: 'lines', series: [series(3 * 3600)], tickSteps: TIME_STEPS }).ticks,
    [0, 3600, 7200, 10_800],
  )
})

test('a tick of a time has one unit', () => {
  assert.deepEqual([0, 90, 600, 5400, 129_600, 172_800].map(formatTimeTick), [
    '0 s',
    '90 s',
    '10 min',
    '90 min',
    '36 h',
    '2 d',
  ])
})

test('days without a value, and no days at all, have an axis', () => {
  assert.deepEqual(valueAxis({ kind: 'lines', series: [series(null, null)] }).ticks, [0, 1])
  assert.deepEqual(valueAxis({ kind: 'bars', series: [] }).ticks, [0, 1])
})

test('the last day has a tick, and ticks do not overlap', () => {
  for (const [days, width] of [
    [7, 300],
    [30, 300],
    [90, 300],
    [90, 1200],
    [365, 320],
    [1, 300],
  ] as const) {
    const ticks = dayTicks(days, width)
    assert.equal(ticks.at(-1), days - 1)
    assert.ok(ticks.length <= Math.max(1, width / 72), `${days} days on ${width} px: ${ticks}`)
  }
})
