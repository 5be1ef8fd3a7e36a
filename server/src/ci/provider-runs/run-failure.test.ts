import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostJob, minutes } from '../../../test/support/provider-runs.ts'
import type { HostAnnotation } from '../../codehosts/host-run.ts'
import { explainFailure, selectDecisiveJobs } from './run-failure.ts'

const ESCAPE = String.fromCharCode(27)
const failedJob = hostJob({ status: 'failure', failed_steps: [{ number: 4, name: 'Run npm test' }] })
const error = (message: string): HostAnnotation => ({ level: 'error', title: null, message, path: null, line: null })
const LOG = `2026-03-01T10:00:00.1234567Z ##[group]Run actions/checkout@v5
2026-03-01T10:00:00.2234567Z with:
2026-03-01T10:00:00.2334567Z ##[endgroup]
2026-03-01T10:00:01.2234567Z Cloned
2026-03-01T10:00:02.2234567Z ##[group]Run npm test
2026-03-01T10:00:02.2334567Z ${ESCAPE}[36;1mnpm test${ESCAPE}[0m
2026-03-01T10:00:02.2434567Z shell: /usr/bin/bash -e {0}
2026-03-01T10:00:02.2534567Z ##[endgroup]
2026-03-01T10:00:03.2234567Z ${ESCAPE}[31mnot ok 1 - total${ESCAPE}[0m
2026-03-01T10:00:03.3234567Z with token ghp_${'a1B2'.repeat(9)}
2026-03-01T10:00:04.2234567Z ##[error]Process completed with exit code 1.
2026-03-01T10:00:05.2234567Z ##[group]Run actions/upload-artifact@v4
2026-03-01T10:00:05.2334567Z ##[endgroup]
2026-03-01T10:00:06.2234567Z Post job cleanup.
`

test('the excerpt has the output of the failed step, without colors, time stamps and secrets', () => {
  assert.deepEqual(explainFailure('failure', [{ job: failedJob, annotations: [], log: LOG }]), {
    failure_category: 'test',
    failure_excerpt: 'not ok 1 - total\nwith token ***\nError: Process completed with exit code 1.',
  })
})

test('without a log, the messages of the job are the excerpt', () => {
  const annotations = [
    error('The runner has received a shutdown signal.'),
    { ...error('Node 16'), level: 'warning' as const },
  ]
  assert.deepEqual(explainFailure('failure', [{ job: failedJob, annotations, log: null }]), {
    failure_category: 'infrastructure',
    failure_excerpt: 'The runner has received a shutdown signal.',
  })
})

test('an excerpt has at most 2,000 characters, whole lines where possible', () => {
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`)
  const excerpt = explainFailure('failure', [
    { job: failedJob, annotations: [], log: lines.join('\n') },
  ]).failure_excerpt
  assert.ok(excerpt !== null && excerpt.length <= 2000 && excerpt.length > 1950)
  assert.match(excerpt, /^line \d+\n/)
  assert.match(excerpt, /line 499$/)
  const long = explainFailure('failure', [{ job: failedJob, annotations: [], log: 'x'.repeat(9000) }]).failure_excerpt
  assert.equal(long?.length, 2000)
})

test('the first line of a log that is not complete is left out', () => {
  const excerptOf = (log: string) =>
    explainFailure('failure', [{ job: failedJob, annotations: [], log }]).failure_excerpt
  const start = 'part-of-a-secret '
  assert.equal(excerptOf(`${start}${' '.repeat(64 * 1024)}\nlast line`), 'last line')
  assert.equal(excerptOf(`${start}\nlast line`), 'part-of-a-secret\nlast line')
  assert.equal(excerptOf(`${start}${'x'.repeat(64 * 1024)}`), null)
})

test('a shortened line does not end within a token', () => {
  const log = `${'word '.repeat(796)}ghp_${'a1B2'.repeat(9)} ${'more '.repeat(100)}`
  const excerpt = explainFailure('failure', [{ job: failedJob, annotations: [], log }]).failure_excerpt
  assert.match(excerpt ?? '', /(?:word ){300}word$/)
})

test('the first job with a category explains the failure; without any, the first job', () => {
  const job = hostJob({ status: 'failure', name: 'deploy' })
  const unknown = { job, annotations: [], log: '##[error]Process completed with exit code 1.' }
  const known = { job, annotations: [], log: 'error TS2322: x' }
  assert.equal(explainFailure('failure', [unknown, known]).failure_category, 'build')
  assert.deepEqual(explainFailure('failure', [unknown]), {
    failure_category: 'unknown',
    failure_excerpt: 'Error: Process completed with exit code 1.',
  })
})

test('a failure without jobs is unknown; a cancelled or timed out one is not', () => {
  assert.equal(explainFailure('failure', []).failure_category, 'unknown')
  assert.equal(explainFailure('cancelled', []).failure_category, 'cancelled')
  assert.equal(explainFailure('timed_out', []).failure_category, 'timeout')
})

test('failed jobs decide in the order in which they ended, else cancelled ones', () => {
  const job = (id: string, status: 'failure' | 'cancelled' | 'success', end: number) =>
    hostJob({ id, status, completed_at: minutes(end) })
  const jobs = [job('1', 'success', 1), job('2', 'failure', 9), job('3', 'failure', 4), job('4', 'cancelled', 2)]
  assert.deepEqual(
    selectDecisiveJobs(jobs).map(({ id }) => id),
    ['3', '2'],
  )
  assert.deepEqual(
    selectDecisiveJobs([job('1', 'success', 1), job('4', 'cancelled', 2)]).map(({ id }) => id),
    ['4'],
  )
})
