import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJob } from './jobs.ts'
import { computeEnd, computeResult, filterAttemptJobs, filterAttemptStart, getNewestAttempt } from './runs.ts'

const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`
const job = (id: number, name: string, status: string, fields = {}) =>
  parseJob({ id, name, status, created_at: at(id), started_at: at(id), finished_at: at(id + 1), ...fields })

/** `test` was retried twice and `lint` once; `build` never. As GitLab lists them, newest first. */
const JOBS = [
  job(6, 'test', 'success'),
  job(5, 'lint', 'success'),
  job(4, 'test', 'failed'),
  job(3, 'lint', 'failed', { allow_failure: true }),
  job(2, 'test', 'failed'),
  job(1, 'build', 'success'),
]
const idsOf = (attempt: number) =>
  filterAttemptJobs(JOBS, attempt)
    .map(({ id }) => id)
    .sort()

test('a pipeline has as many attempts as its most retried job', () => {
  assert.equal(getNewestAttempt(JOBS), 3)
  assert.equal(getNewestAttempt([]), 1)
})

test('jobs that were not retried belong to the later attempts, too', () => {
  assert.deepEqual(
    [idsOf(1), idsOf(2), idsOf(3)],
    [
      [1, 2, 3],
      [1, 4, 5],
      [1, 5, 6],
    ],
  )
  assert.deepEqual(
    filterAttemptStart(JOBS, 2).map(({ id }) => id),
    [4, 5],
  )
})

test('the result of an earlier attempt is that of its jobs', () => {
  assert.equal(computeResult(filterAttemptJobs(JOBS, 1)), 'failure')
  assert.equal(computeResult(filterAttemptJobs(JOBS, 3)), 'success')
  assert.equal(computeResult([job(1, 'a', 'canceled'), job(2, 'b', 'success')]), 'cancelled')
  assert.equal(computeResult([job(1, 'a', 'failed', { failure_reason: 'job_execution_timeout' })]), 'failure')
  assert.deepEqual(computeEnd(filterAttemptJobs(JOBS, 1)), new Date(at(4)))
  assert.equal(computeEnd([job(1, 'a', 'running')]), null)
})
