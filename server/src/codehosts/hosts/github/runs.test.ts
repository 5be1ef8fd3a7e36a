import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCheckStatus } from './checks.ts'
import { parseRef, parseStatus, parseTriggerKind } from './runs.ts'

const CONCLUSIONS: [conclusion: string | null, status: string][] = [
  ['success', 'success'],
  ['neutral', 'success'],
  ['failure', 'failure'],
  ['startup_failure', 'failure'],
  ['cancelled', 'cancelled'],
  ['action_required', 'cancelled'],
  ['timed_out', 'timed_out'],
  ['skipped', 'skipped'],
  ['stale', 'skipped'],
  ['a_new_conclusion', 'failure'],
  [null, 'failure'],
]

test('each conclusion of GitHub is one of the seven statuses, and an unknown one is no success', () => {
  for (const [conclusion, status] of CONCLUSIONS) assert.equal(parseStatus('completed', conclusion), status)
})

test('before the start a run is queued, and its conclusion does not count before its end', () => {
  for (const status of ['queued', 'requested', 'waiting', 'pending', 'a_new_status', null, undefined])
    assert.equal(parseStatus(status, 'success'), 'queued')
  assert.equal(parseStatus('in_progress', 'success'), 'in_progress')
})

test('each state of a commit status is one of the seven statuses', () => {
  const states = ['success', 'pending', 'failure', 'error', 'a_new_state'].map(parseCheckStatus)
  assert.deepEqual(states, ['success', 'queued', 'failure', 'failure', 'failure'])
})

const KINDS: [kind: string, events: string[]][] = [
  ['push', ['push']],
  ['schedule', ['schedule']],
  ['release', ['release']],
  ['manual', ['workflow_dispatch', 'repository_dispatch']],
  ['workflow', ['workflow_run', 'workflow_call']],
  [
    'pull_request',
    ['pull_request', 'pull_request_target', 'pull_request_review', 'pull_request_review_comment', 'merge_group'],
  ],
  ['other', ['create', 'delete', 'issue_comment', 'check_run', 'dynamic', 'a_new_event']],
]

test('each event that starts a run has a kind', () => {
  for (const [kind, events] of KINDS) for (const event of events) assert.equal(parseTriggerKind(event), kind, event)
})

test('a ref is a branch, except that of a release; a full name is kept', () => {
  assert.equal(parseRef('push', 'main'), 'refs/heads/main')
  assert.equal(parseRef('merge_group', 'gh-readonly-queue/main/pr-1-a'), 'refs/heads/gh-readonly-queue/main/pr-1-a')
  assert.equal(parseRef('release', 'v1'), 'refs/tags/v1')
  assert.equal(parseRef('push', 'refs/pull/1/merge'), 'refs/pull/1/merge')
  assert.equal(parseRef('push', null), null)
  assert.equal(parseRef('push', ''), null)
})
