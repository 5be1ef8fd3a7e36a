import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseDelivery } from './events.ts'

const FIXTURE = new URL('../../../../test/fixtures/azure/events.json', import.meta.url)
const samples: { eventType: string }[] = JSON.parse(readFileSync(FIXTURE, 'utf8'))

const PROJECT = 'be9b3917-87e6-42a4-a549-2bc06a7a878f'

function run(id: number) {
  return { repository_id: `run:${PROJECT}_${id}`, type: 'run', id: `${PROJECT}_${id}` }
}

/** What the samples of the documentation mean. */
const MEANINGS: Readonly<Record<string, unknown>> = {
  'build.complete': [run(2)],
  'ms.vss-pipelines.run-state-changed-event': [run(11)],
  'ms.vss-pipelines.stage-state-changed-event': [
    run(2),
    { ...run(2), type: 'deployment', id: `${PROJECT}_2_stage:%5F%5Fdefault_0` },
  ],
  'ms.vss-pipelines.job-state-changed-event': [run(2)],
  // The sample names no run.
  'ms.vss-pipelinechecks-events.approval-pending': null,
  'git.push': [
    {
      repository_id: '278d5cd2-584d-4b63-824a-2ba458937249',
      type: 'push',
      push: {
        ref: 'refs/heads/master',
        before: 'aad331d8d3b131fa9ae03cf5e53965b51942618a',
        after: '33b55f7cb7e7e245323987634f960cf4a6e6bc74',
        forced: null,
        pusher: {
          id: '00067ffed5c7af52@live.com',
          login: 'Jamal Hartnett',
          name: 'Jamal Hartnett',
          avatar_url: null,
          url: null,
          is_bot: false,
        },
        by_merge_queue: false,
        pushed_at: new Date('2014-05-02T19:17:13.330Z'),
      },
    },
  ],
  'ms.vss-alerts.alert-created-event': [
    {
      repository_id: 'name:00aa00aa-bb11-cc22-dd33-44ee44ee44ee:test',
      type: 'alert',
      alert: { type: 'code_scanning', number: 1 },
    },
  ],
}

for (const sample of samples)
  test(`the sample of ${sample.eventType} means what it says`, () => {
    const changes = MEANINGS[sample.eventType]
    const expected = changes === null ? { type: 'unknown' } : { type: 'changes', changes }
    assert.deepEqual(parseDelivery(sample.eventType, sample), expected)
  })

test('an approval of an environment names its deployment', () => {
  const resource = { run: { id: 12 }, resource: { type: 'environment', id: '7', name: 'production' }, attemptId: 2 }
  const payload = { resource, resourceContainers: { project: { id: PROJECT } } }
  const deployment = { ...run(12), type: 'deployment', id: `${PROJECT}_12_7_2` }
  const expected = { type: 'changes', changes: [deployment] }
  assert.deepEqual(parseDelivery('ms.vss-pipelinechecks-events.approval-completed', payload), expected)
})

test('events of repositories name the repository, a deletion by its id alone', () => {
  const id = '278D5CD2-584D-4B63-824A-2BA458937249'
  const meaning = (change: string) => ({
    type: 'changes',
    changes: [{ repository_id: id.toLowerCase(), type: 'repository', change }],
  })
  for (const name of ['created', 'renamed', 'statuschanged'])
    assert.deepEqual(parseDelivery(`git.repo.${name}`, { resource: { repository: { id } } }), meaning('changed'))
  assert.deepEqual(parseDelivery('git.repo.deleted', { resource: { repositoryId: id } }), meaning('deleted'))
})
