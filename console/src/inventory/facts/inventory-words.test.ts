import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evidenceText, notAffectedReasons, summaryOf } from './inventory-words.ts'

const counts = (affected: number, not_affected: number, unknown: number) => ({
  ...{ live_deployments: affected + not_affected + unknown, affected, not_affected, unknown, affected_not_live: 0 },
})

test('the sentence of an answer never calls fine what is not known', () => {
  assert.match(summaryOf(counts(0, 0, 0)), /^No deployment runs/)
  assert.equal(summaryOf(counts(0, 3, 0)), 'None of the 3 deployments that run is affected.')
  assert.equal(summaryOf(counts(0, 1, 0)), 'The 1 deployment that runs is not affected.')
  assert.equal(summaryOf(counts(2, 1, 0)), '2 of the 3 deployments that run are affected.')
  for (const [affected, not_affected] of [
    [0, 0],
    [0, 2],
    [1, 0],
    [2, 2],
  ] as const)
    for (const unknown of [1, 3]) assert.match(summaryOf(counts(affected, not_affected, unknown)), /known/)
})

test('only reasons that occur are named', () => {
  const none = { not_present: 0, version: 0, vex: 0, false_positive: 0, used_in_tests: 0, mitigated: 0, withdrawn: 0 }
  assert.deepEqual(notAffectedReasons(none), [])
  assert.deepEqual(notAffectedReasons({ ...none, version: 2, not_present: 1 }), [
    '1 without the package',
    '2 with a version that is not affected',
  ])
})

test('what only a scanner reported is no bill of materials', () => {
  assert.equal(evidenceText({ evidence: 'commit', lane: null }), 'Reported by a scanner')
  assert.match(evidenceText({ evidence: 'inferred', lane: 'key' }), /^Inferred .* API key$/)
})
