import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { computeRunScores, type ScoredRun } from './run-scores.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-03-01T10:00:00Z')

/** Run number `index`: one a day at ten o'clock, two minutes long, by ada. */
function runAt(index: number, fields: Partial<ScoredRun> = {}): ScoredRun {
  return {
    run_id: `gh_run_${index}`,
    status: 'success',
    created_at: new Date(START + index * DAY_MS),
    duration_seconds: 120,
    actor: 'ada',
    failure_category: null,
    on_tracked_branch: true,
    deploys: false,
    scores: null,
    ...fields,
  }
}

const failed = (index: number, failure_category: string | null = 'test') =>
  runAt(index, { status: failure_category === 'cancelled' ? 'cancelled' : 'failure', failure_category })
const usual = (count: number) => Array.from({ length: count }, (_, index) => runAt(index))
const scoresOf = (runs: ScoredRun[]) => computeRunScores([], runs).map(({ scores }) => scores)
const last = (runs: ScoredRun[]) => scoresOf(runs).at(-1)
const recurrences = (runs: ScoredRun[]) => scoresOf(runs).map((scores) => scores?.failure_recurrence)
const reasons = (run: Partial<ScoredRun>, before = usual(20)) =>
  last([...before, runAt(before.length, run)])?.anomaly_reasons

test('failures in a row with one category are counted; another result starts again', () => {
  const runs = [
    failed(0),
    failed(1),
    failed(2, 'build'),
    failed(3),
    failed(4),
    runAt(5),
    failed(6),
    failed(7, 'cancelled'),
    failed(8),
  ]
  assert.deepEqual(recurrences(runs), [1, 2, 1, 1, 2, null, 1, 1, 1])
})

test('open and skipped runs do not end a row of failures', () => {
  const open = runAt(1, { status: 'in_progress', duration_seconds: null })
  assert.deepEqual(recurrences([failed(0), open, runAt(2, { status: 'skipped' }), failed(3)]), [1, undefined, null, 2])
})

test('a failure whose reason has not been read has no recurrence', () => {
  assert.deepEqual(recurrences([failed(0), failed(1, null), failed(2)]), [1, null, 1])
})

test('slower_than_usual: over the 95th percentile of at least five successful runs', () => {
  const times = Array.from({ length: 20 }, (_, index) => runAt(index, { duration_seconds: 100 + index }))
  assert.deepEqual(reasons({ duration_seconds: 118 }, times), [])
  assert.deepEqual(reasons({ duration_seconds: 119 }, times), ['slower_than_usual'])
  assert.deepEqual(reasons({ duration_seconds: 9000 }, usual(4)), [])
  assert.deepEqual(reasons({ duration_seconds: 9000 }, usual(5)), ['slower_than_usual'])
})

test('only the last 50 runs count', () => {
  const before = [runAt(0, { duration_seconds: 9000, actor: 'eve' }), ...usual(50).map((run) => ({ ...run }))]
  assert.deepEqual(reasons({ duration_seconds: 121, actor: 'eve' }, before), ['slower_than_usual', 'new_actor'])
})

test('first_failure_after_success: the last run that was not cancelled succeeded', () => {
  const fails = { status: 'failure', failure_category: 'test' } as const
  assert.deepEqual(reasons(fails), ['first_failure_after_success'])
  assert.deepEqual(reasons(fails, [...usual(2), failed(2, 'cancelled')]), ['first_failure_after_success'])
  assert.deepEqual(reasons(fails, [...usual(2), failed(2)]), [])
  assert.deepEqual(reasons(fails, []), [])
})

test('new_actor: nobody of this name is in the history', () => {
  assert.deepEqual(reasons({ actor: 'eve' }), ['new_actor'])
  assert.deepEqual(reasons({ actor: 'eve' }, []), [])
  assert.deepEqual(reasons({ actor: null }), [])
})

test('unusual_hour: no run of at least ten was created within two hours of this hour', () => {
  const at = (hour: string) => ({ created_at: new Date(`2026-04-01T${hour}:30:00Z`) })
  assert.deepEqual(reasons(at('12')), [])
  assert.deepEqual(reasons(at('13')), ['unusual_hour'])
  assert.deepEqual(reasons(at('07')), ['unusual_hour'])
  assert.deepEqual(reasons(at('13'), usual(9)), [])
  const atMidnight = usual(10).map((run) => ({ ...run, ...at('23') }))
  assert.deepEqual(reasons(at('01'), atMidnight), [])
})

test('the importance adds up what the run is', () => {
  const score = (run: Partial<ScoredRun>) => last([runAt(0, run)])?.importance_score
  assert.equal(score({}), 0.3)
  assert.equal(score({ on_tracked_branch: false }), 0)
  assert.equal(score({ deploys: true }), 0.5)
  assert.equal(score({ status: 'failure' }), 0.6)
  assert.equal(score({ status: 'cancelled' }), 0.3)
  const all = { status: 'failure', deploys: true, actor: 'eve', duration_seconds: 9000 } as const
  const [hour] = [new Date('2026-04-01T23:00:00Z')]
  assert.equal(last([...usual(20), runAt(20, { ...all, created_at: hour as Date })])?.importance_score, 1)
})

test('an open run has no scores', () => {
  assert.deepEqual(scoresOf([runAt(0, { status: 'queued' })]), [null])
})

test('scoring in parts gives what scoring at once gives', () => {
  const statuses = fc.constantFrom('success', 'failure', 'cancelled', 'skipped', 'in_progress' as const)
  const categories = fc.constantFrom('test', 'build')
  fc.assert(
    fc.property(fc.array(fc.tuple(statuses, categories), { minLength: 2, maxLength: 120 }), fc.nat(), (given, at) => {
      const runs = given.map(([status, category], index) =>
        runAt(index, { status, failure_category: status === 'failure' ? category : null }),
      )
      const whole = computeRunScores([], runs)
      const cut = at % runs.length
      const before = whole.slice(0, cut).filter(({ status }) => status !== 'skipped' && status !== 'in_progress')
      assert.deepEqual(computeRunScores(before.slice(-50), runs.slice(cut)), whole.slice(cut))
    }),
  )
})
