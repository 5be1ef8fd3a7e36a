import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDelivery } from './events.ts'

const REPOSITORY_ID = '723a2f4e-f092-4bb3-9c4a-abb2b946aeaf'
const PIPELINE_ID = '11f7d3a0-6f3e-4b52-9a1c-0d3c0d6f2a11'
const repository = { type: 'repository', uuid: `{${REPOSITORY_ID.toUpperCase()}}`, full_name: 'acme/shop' }
const actor = { type: 'user', uuid: '{f0dfa5a0-deef-4945-b320-b74965a656ac}', nickname: 'ada', display_name: 'Ada' }
const commit = { type: 'commit', hash: 'd'.repeat(40), date: '2026-03-02T16:08:09+00:00' }
const older = { type: 'commit', hash: 'c'.repeat(40), date: '2026-03-01T16:08:09+00:00' }
const about = { repository_id: REPOSITORY_ID }

function changesOf(event: string, payload: object) {
  const translated = parseDelivery(event, payload)
  return translated.type === 'changes' ? translated.changes : translated.type
}

function spans(...names: string[]) {
  const attributes = [
    { key: 'pipeline.uuid', value: { stringValue: `{${PIPELINE_ID}}` } },
    { key: 'pipeline.repository.uuid', value: { stringValue: `{${REPOSITORY_ID}}` } },
    { key: 'pipeline_run.run_number', value: { intValue: 1 } },
  ]
  return { resourceSpans: [{ scopeSpans: [{ spans: names.map((name) => ({ name, attributes })) }] }] }
}

test('a push has one change for each ref', () => {
  const branch = { type: 'branch', name: 'main', target: commit }
  const tag = { type: 'annotated_tag', name: 'v1', target: commit }
  const changes = [
    { old: { ...branch, target: older }, new: branch, forced: true },
    { old: null, new: tag, created: true },
    { old: branch, new: null, closed: true },
  ]
  const pushes = changesOf('repo:push', { actor, repository, push: { changes } })
  assert.ok(Array.isArray(pushes))
  const shown = pushes.map((change) =>
    change.type === 'push'
      ? [change.push.ref, change.push.before?.[0], change.push.after?.[0], change.push.forced]
      : [],
  )
  assert.deepEqual(shown, [
    ['refs/heads/main', 'c', 'd', true],
    ['refs/tags/v1', undefined, 'd', false],
    ['refs/heads/main', 'd', undefined, false],
  ])
  const [first] = pushes
  assert.ok(first?.type === 'push')
  assert.deepEqual([first.push.pusher?.login, first.push.pushed_at], ['ada', new Date(commit.date)])
})

test('a build status names the checks of its commit, and the pipeline that it is about', () => {
  const checks = { ...about, type: 'checks', commit_sha: commit.hash }
  const status = { key: 'ci', state: 'SUCCESSFUL', commit }
  const alerts = { ...about, type: 'alerts' }
  const other = { repository, commit_status: { ...status, url: 'https://ci.example.com/results/7' } }
  assert.deepEqual(changesOf('repo:commit_status_created', other), [checks, alerts])
  for (const path of ['addon/pipelines/home#!/results/7', 'pipelines/results/7/steps/x', 'pipelines/results/7']) {
    const url = `https://bitbucket.org/Acme/shop/${path}`
    const payload = { repository, commit_status: { ...status, url } }
    const run = [
      { ...about, type: 'run', id: '7' },
      { ...about, type: 'run_deployments', run_id: '7' },
    ]
    assert.deepEqual(changesOf('repo:commit_status_updated', payload), [checks, ...run, alerts])
    const open = { repository, commit_status: { ...status, url, state: 'INPROGRESS' } }
    assert.deepEqual(changesOf('repo:commit_status_created', open), [checks, ...run])
  }
  const foreign = { ...status, url: 'https://bitbucket.org/others/shop/pipelines/results/7' }
  assert.deepEqual(changesOf('repo:commit_status_updated', { repository, commit_status: foreign }), [checks, alerts])
})

test('a trace names each pipeline of which a step or an attempt has ended', () => {
  const run = [
    { ...about, type: 'run', id: PIPELINE_ID },
    { ...about, type: 'run_deployments', run_id: PIPELINE_ID },
  ]
  assert.deepEqual(changesOf('pipeline:span_created', spans('bbc.pipeline_step', 'bbc.pipeline_run')), run)
  assert.equal(changesOf('pipeline:span_created', spans('bbc.command', 'bbc.container')), 'unknown')
})

test('events of pull requests and repositories name them', () => {
  const pullrequest = { id: 7 }
  for (const name of ['created', 'updated', 'approved', 'unapproved', 'fulfilled', 'rejected'])
    assert.deepEqual(changesOf(`pullrequest:${name}`, { repository, pullrequest }), [
      { ...about, type: 'pull_request', number: 7 },
    ])
  assert.deepEqual(changesOf('repo:updated', { repository }), [{ ...about, type: 'repository', change: 'changed' }])
  assert.deepEqual(changesOf('repo:deleted', { repository }), [{ ...about, type: 'repository', change: 'deleted' }])
  assert.equal(changesOf('issue:created', { repository }), 'unknown')
})

test('a payload that does not fit names the field', () => {
  assert.throws(() => parseDelivery('repo:updated', {}), /\/repository is missing/)
  assert.throws(
    () => parseDelivery('pullrequest:created', { repository, pullrequest: {} }),
    /\/pullrequest\/id is missing/,
  )
  assert.throws(() => parseDelivery('repo:push', { repository, push: { changes: [{ new: {} }] } }), /changes\/0\/new/)
  assert.throws(() => parseDelivery('pipeline:span_created', {}), /\/resourceSpans is missing/)
})
