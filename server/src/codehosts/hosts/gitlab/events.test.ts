import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDeploymentId } from './deployments.ts'
import { createParseDelivery } from './events.ts'

const AT = new Date('2026-03-01T10:00:00Z')
const translate = createParseDelivery({ now: () => AT })
const changesOf = (event: string, payload: unknown) => {
  const found = translate(event, payload)
  return found.type === 'changes' ? found.changes : found.type
}
const project = { id: 3 }
const SHA = 'a'.repeat(40)

test('a pipeline changes its run, and the checks of its commit when it has ended', () => {
  const attributes = { id: 5, sha: SHA, source: 'push' }
  const run = { repository_id: '3', type: 'run', id: '5' }
  const checks = { repository_id: '3', type: 'checks', commit_sha: SHA }
  const of = (fields: object) => changesOf('pipeline', { project, object_attributes: { ...attributes, ...fields } })
  assert.deepEqual(of({ status: 'running' }), [run])
  const renamed = { repository_id: '3', type: 'repository', change: 'changed' }
  assert.deepEqual(of({ status: 'failed' }), [renamed, run, checks])
  assert.deepEqual(of({ status: 'success', source: 'external' }), [checks])
})

test('a job changes its run, and a deployment that it would start', () => {
  const job = { project_id: 3, pipeline_id: 5, build_id: 6, environment: { name: 'production' } }
  const run = { repository_id: '3', type: 'run', id: '5' }
  assert.deepEqual(changesOf('build', { ...job, build_status: 'running' }), [run])
  const waiting = { repository_id: '3', type: 'deployment', id: formatDeploymentId(6, 'production') }
  for (const build_status of ['manual', 'pending'])
    assert.deepEqual(changesOf('build', { ...job, build_status }), [run, waiting])
  assert.deepEqual(changesOf('build', { ...job, build_status: 'manual', environment: null }), [run])
})

test('deployments, merge requests and notes on them, projects and vulnerabilities are named', () => {
  assert.deepEqual(changesOf('deployment', { project, deployment_id: 8 }), [
    { repository_id: '3', type: 'deployment', id: '8' },
  ])
  const pull = { repository_id: '3', type: 'pull_request', number: 4 }
  // A merge request of a fork belongs to the project that it targets.
  const fork = { iid: 4, target_project_id: 3 }
  assert.deepEqual(changesOf('merge_request', { project: { id: 9 }, object_attributes: fork }), [pull])
  assert.deepEqual(changesOf('note', { project, merge_request: { iid: 4 } }), [pull])
  assert.equal(changesOf('note', { project, issue: { iid: 4 } }), 'unknown')
  assert.deepEqual(changesOf('project_destroy', { project_id: 3 }), [
    { repository_id: '3', type: 'repository', change: 'deleted' },
  ])
  const found = { project_id: 3, report_type: 'sast', url: 'https://gitlab.com/a/b/-/security/vulnerabilities/77' }
  const alert = { repository_id: '3', type: 'alert', alert: { type: 'code_scanning', number: 77 } }
  assert.deepEqual(changesOf('vulnerability', { object_attributes: found }), [alert])
  assert.equal(changesOf('vulnerability', { object_attributes: { ...found, report_type: 'new' } }), 'unknown')
})

test('a push is told with its time of arrival', () => {
  const user = { user_id: 2, user_username: 'ada', user_name: 'Ada', user_avatar: null }
  const before = '0'.repeat(40)
  assert.deepEqual(changesOf('push', { project_id: 3, ref: 'refs/heads/main', before, after: SHA, ...user }), [
    { repository_id: '3', type: 'repository', change: 'changed' },
    {
      repository_id: '3',
      type: 'push',
      push: {
        ref: 'refs/heads/main',
        before: null,
        after: SHA,
        forced: null,
        pusher: { id: '2', login: 'ada', name: 'Ada', avatar_url: null, url: null, is_bot: false },
        by_merge_queue: false,
        pushed_at: AT,
      },
    },
  ])
})

test('other events are unknown; a payload that does not fit names the field', () => {
  assert.equal(changesOf('issue', {}), 'unknown')
  assert.equal(changesOf('constructor', {}), 'unknown')
  assert.throws(() => translate('pipeline', { project: { id: 3 } }), /\/object_attributes is missing/)
  assert.throws(() => translate('build', { project_id: '3', pipeline_id: 5, build_id: 6 }), /\/project_id/)
})
