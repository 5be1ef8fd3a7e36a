import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ALICE, BOB, MERGE, mergedRecord, reviewOf } from '../../../test/support/change-records.ts'
import type { RunStatus } from '../../ci/runs/run-status.ts'
import type { Amendment, ChangeRecord, RecordCheck, RecordRun } from './change-record.ts'
import { computeDeviations } from './deviations.ts'
import { collectLateFacts } from './late-facts.ts'

function recordWith(fields: Partial<ChangeRecord> = {}): ChangeRecord {
  const unrated = { ...mergedRecord(), ...fields }
  return { ...unrated, deviations: computeDeviations(unrated) }
}

const check = (status: RunStatus, name = 'build'): RecordCheck => ({
  name,
  source: 'ci',
  status,
  required: null,
  commit_sha: MERGE,
  url: null,
  completed_at: null,
})
const run = (status: RunStatus, attempt = 1): RecordRun => ({
  id: 'gh_run_1',
  pipeline_name: 'CI',
  attempt,
  status,
  url: null,
  completed_at: null,
})

type Results = Pick<ChangeRecord, 'reviews' | 'checks' | 'runs'>

/** The late facts as they are appended. */
function amend(record: ChangeRecord, amendments: Amendment[], present: Partial<Results>): Amendment[] {
  const { reviews, checks, runs } = { ...record, ...present }
  return collectLateFacts(record, amendments, { reviews, checks, runs }).map((fact) => ({
    change: record.id,
    at: '2026-02-01T00:00:00.000Z',
    ...fact,
  }))
}

test('a result that has not changed is no late fact, and neither is one that is open', () => {
  const record = recordWith({ checks: [check('success')], runs: [run('success')], reviews: [reviewOf(BOB)] })
  assert.deepEqual(amend(record, [], {}), [])
  const later = { ...check('success'), completed_at: '2026-02-01T00:00:00.000Z' }
  assert.deepEqual(amend(record, [], { checks: [later, check('queued', 'lint')], runs: [run('in_progress', 2)] }), [])
})

test('each change of a result is a fact, with all deviations that are known then', () => {
  const record = recordWith({ checks: [check('success')], reviews: [] })
  const failed = amend(record, [], { checks: [check('failure')] })
  const passed = amend(record, failed, { checks: [check('success')] })
  assert.deepEqual(
    [...failed, ...passed].map(({ kind, facts }) => [kind, facts.check?.status, facts.deviations]),
    [
      ['check', 'failure', ['no_review', 'check_failed']],
      ['check', 'success', ['no_review', 'check_failed']],
    ],
  )
})

test('a review that was submitted before the landing can add a deviation; one after it cannot', () => {
  const record = recordWith({ reviews: [reviewOf(BOB)] })
  const before = amend(record, [], { reviews: [reviewOf(BOB), reviewOf(BOB, 'changes_requested', { minute: 30 })] })
  const after = amend(record, [], { reviews: [reviewOf(BOB), reviewOf(BOB, 'changes_requested', { minute: 90 })] })
  const deviations = [...before, ...after].map(({ facts }) => facts.deviations)
  assert.deepEqual(deviations, [['no_review'], []])
})

test('an approval that is dismissed after the landing still counts for it', () => {
  const record = recordWith({ reviews: [reviewOf(BOB)] })
  const [dismissed, ...others] = amend(record, [], { reviews: [{ ...reviewOf(BOB), state: 'dismissed' }] })
  assert.deepEqual([dismissed?.facts.review?.state, dismissed?.facts.deviations, others], ['dismissed', [], []])
})

const statuses = fc.constantFrom<RunStatus[]>('queued', 'in_progress', 'success', 'failure', 'cancelled')
const results: fc.Arbitrary<Results> = fc.record({
  reviews: fc.subarray([reviewOf(BOB), reviewOf(ALICE), reviewOf(BOB, 'commented', { minute: 90 })]),
  checks: fc.record({ a: statuses, b: statuses }).map(({ a, b }) => [check(a, 'a'), check(b, 'b')]),
  runs: fc
    .record({ status: statuses, attempt: fc.nat({ max: 3 }) })
    .map(({ status, attempt }) => [run(status, attempt + 1)]),
})

test('facts that were appended are not late any more; deviations never go away', () => {
  fc.assert(
    fc.property(results, fc.array(results, { maxLength: 4 }), (stated, later) => {
      const record = recordWith(stated)
      let amendments: Amendment[] = []
      let known: string[] = record.deviations
      for (const present of later) {
        amendments = [...amendments, ...amend(record, amendments, present)]
        assert.deepEqual(amend(record, amendments, present), [])
        const newest: string[] = amendments.at(-1)?.facts.deviations ?? record.deviations
        assert.ok(known.every((deviation) => newest.includes(deviation)))
        known = newest
      }
    }),
  )
})
