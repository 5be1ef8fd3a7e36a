import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareDryRuns, type DryRun } from './compare-dry-runs.ts'

type Results = Record<string, [decision: string, rules?: Record<string, string>]>

const dryRun = (results: Results) =>
  ({
    results: Object.entries(results).map(([id, [decision, rules = {}]]) => ({
      run: { id },
      decision,
      rules: Object.entries(rules).map(([rule, status]) => ({ rule, status })),
    })),
  }) as unknown as DryRun

const changes = (tried: Results, applied: Results | null) =>
  compareDryRuns(dryRun(tried), applied && dryRun(applied)).map(({ change }) => change)

test('a run is newly blocked or newly allowed if the applied version decides otherwise', () => {
  const applied: Results = { a: ['approve'], b: ['warn'], c: ['block'], d: ['block'], e: ['approve'] }
  const tried: Results = { a: ['block'], b: ['block'], c: ['warn'], d: ['block'], e: ['warn'] }
  assert.deepEqual(changes(tried, applied), ['newly_blocked', 'newly_blocked', 'newly_allowed', 'same', 'same'])
})

test('a run that the applied version does not cover is newly covered, or newly blocked', () => {
  assert.deepEqual(changes({ a: ['approve'], b: ['block'] }, {}), ['newly_covered', 'newly_blocked'])
})

test('nothing has changed without an applied version', () => {
  assert.deepEqual(changes({ a: ['block'] }, null), ['same'])
})

test('rules that fail or pass now, among those of both versions', () => {
  const [result] = compareDryRuns(
    dryRun({ a: ['block', { one: 'error', two: 'pass', three: 'fail', four: 'fail' }] }),
    dryRun({ a: ['block', { one: 'pass', two: 'warn', three: 'fail' }] }),
  )
  assert.deepEqual([result?.newlyFailing, result?.newlyPassing], [['one'], ['two']])
})
