import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { HostDeploymentState, HostEnvironment } from '../../src/codehosts/host-deployment.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { answer, configureGate } from '../support/gates.ts'
import {
  applyEvents,
  gateRequest,
  hostDeployment,
  hostEnvironment,
  hostReview,
  hostStatus,
  minute,
  REVIEWED,
} from '../support/host-deployments.ts'
import { hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { drainQueue } from '../support/queue.ts'

const host = fakeCodeHost({ listDeploymentReviews: async () => [] })
let api: TestApi

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())

const OLDER = hostDeployment({
  id: '500',
  commit_sha: 'b'.repeat(40),
  run: { id: '8000', attempt: 1 },
  created_at: minute(-60),
  updated_at: minute(-60),
})
const REDEPLOY = hostDeployment({
  id: '502',
  commit_sha: 'b'.repeat(40),
  run: { id: '8000', attempt: 2 },
  created_at: minute(60),
  updated_at: minute(60),
})

function status(state: HostDeploymentState, minutes: number, deployment = hostDeployment()): HostEvent {
  return { kind: 'deployment_status', data: hostStatus(state, minute(minutes), deployment) }
}

const ASKED: HostEvent[] = [
  { kind: 'run', data: hostRun({ status: 'queued' }) },
  { kind: 'deployment', data: hostDeployment() },
  status('waiting', 1),
  { kind: 'gate_request', data: gateRequest({ deployment: null, run: { id: '9001', attempt: null } }) },
  { kind: 'gate_request', data: gateRequest() },
  { kind: 'deployment_review', data: hostReview('requested', { at: minute(1) }) },
]
const FINISHED: HostEvent[] = [
  { kind: 'deployment_review', data: hostReview('approved') },
  status('in_progress', 5),
  status('success', 6),
  status('inactive', 61),
  { kind: 'run', data: hostRun({ status: 'success', updated_at: minute(7), ref: 'refs/heads/release/1' }) },
  status('success', -59, OLDER),
  status('inactive', 6, OLDER),
  { kind: 'run', data: hostRun({ id: '8000', created_at: minute(-70), updated_at: minute(-58), status: 'success' }) },
  { kind: 'deployment', data: REDEPLOY },
  status('success', 61, REDEPLOY),
]
const CANCELLED: HostEvent[] = [
  { kind: 'run', data: hostRun({ status: 'cancelled', updated_at: minute(7) }) },
  status('failure', 8),
]

type Story = { environment: HostEnvironment; first: HostEvent[]; decide?: 'approve' | 'reject'; last: HostEvent[] }

const STORIES: Record<string, Story> = {
  'nobody decides': { environment: REVIEWED, first: [], last: [...ASKED, ...FINISHED] },
  'the run is cancelled': { environment: REVIEWED, first: [], last: [...ASKED, ...CANCELLED] },
  'a reviewer rejects': {
    environment: REVIEWED,
    first: [],
    last: [...ASKED, ...CANCELLED, { kind: 'deployment_review', data: hostReview('rejected') }],
  },
  'our rule approves': { environment: REVIEWED, first: ASKED, decide: 'approve', last: FINISHED },
  'our rule rejects, and the host goes on': {
    environment: hostEnvironment(),
    first: ASKED,
    decide: 'reject',
    last: FINISHED,
  },
  'our rule rejects, and the run ends': {
    environment: hostEnvironment(),
    first: ASKED,
    decide: 'reject',
    last: CANCELLED,
  },
}

type Played = { caller: Caller; source: HostSource }

async function begin({ environment }: Story): Promise<Played> {
  host.answers.readEnvironment = async () => environment
  const caller = await api.caller()
  await configureGate(api, caller, { name: 'All' })
  await configureGate(api, caller, { name: 'Release', branch: 'release/*', allowApiKeys: false })
  const source = await insertConnection(api.services.sql, caller.orgId)
  return { caller, source }
}

/**
 * The deployments as the API shows them, with the gates that an answered or waiting rule requires.
 */
async function rows({ caller }: Played): Promise<Json[]> {
  const required = await api.services.sql`
    select gate.deployment_id, gate.position, gate.name
    from required_gates gate
    join deployments deployment on deployment.org_id = gate.org_id and deployment.id = gate.deployment_id
    where deployment.org_id = ${caller.orgId}
      and deployment.custom_rule_state <> 'cancelled'
    order by gate.deployment_id, gate.position`
  const { body } = await api.request('GET', '/v1/deployments?since=2026-02-01T00:00:00Z', { key: caller.key })
  const shown = body.data.map(({ org_id: _, ...deployment }: Json) => deployment)
  return [...shown, ...required.map((row) => ({ ...row }))]
}

async function play(story: Story, first: HostEvent[], last: HostEvent[]): Promise<Json[]> {
  const played = await begin(story)
  await applyEvents(api, played.source, first)
  await drainQueue(api)
  if (story.decide) assert.equal((await answer(api, played.caller, 'gh_deployment_501', story.decide)).status, 200)
  for (const event of last) {
    await applyEvents(api, played.source, [event])
    if (event.kind === 'run') await drainQueue(api)
  }
  await drainQueue(api)
  return rows(played)
}

/** The positions of all events in any order, some of them twice. */
function shuffled(count: number): fc.Arbitrary<number[]> {
  const all = Array.from({ length: count }, (_, at) => at)
  return fc
    .subarray(all)
    .chain((again) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }))
}

for (const [name, story] of Object.entries(STORIES)) {
  test(`any order and repetition of the events gives the same deployments: ${name}`, async () => {
    const { first, last } = story
    const later = [...last, ...first]
    const expected = await play(story, first, last)
    await fc.assert(
      fc.asyncProperty(shuffled(first.length), shuffled(later.length), async (before, after) => {
        const given = [before.map((at) => first[at] as HostEvent), after.map((at) => later[at] as HostEvent)] as const
        assert.deepEqual(await play(story, ...given), expected)
      }),
      { numRuns: 15 },
    )
  })
}

test('simultaneous events give the same deployments as events in order', async () => {
  const story = STORIES['nobody decides'] as Story
  const expected = await play(story, [], story.last)
  for (let round = 0; round < 5; round++) {
    const played = await begin(story)
    await Promise.all(story.last.map((event) => applyEvents(api, played.source, [event])))
    await drainQueue(api)
    assert.deepEqual(await rows(played), expected)
  }
})

test('of a simultaneous answer, status and review exactly one order is stored', async () => {
  const story = STORIES['our rule approves'] as Story
  for (let round = 0; round < 10; round++) {
    const played = await begin(story)
    const { caller, source } = played
    await applyEvents(api, source, ASKED)
    await drainQueue(api)
    const [given] = await Promise.all([
      answer(api, caller, 'gh_deployment_501', round % 2 === 0 ? 'approve' : 'reject'),
      applyEvents(api, source, [status('in_progress', 5)]),
      applyEvents(api, source, [{ kind: 'deployment_review', data: hostReview('approved') }]),
    ])
    await drainQueue(api)
    const [row] = await rows(played)
    const decision = given.status === 200 ? (round % 2 === 0 ? 'approved' : 'rejected') : 'pending'
    assert.equal(row?.custom_rule_state, decision)
    assert.equal(row?.status, decision === 'rejected' ? 'rejected' : 'in_progress')
    assert.equal(row?.bypass === null, decision === 'approved')
    const calls = await api.services.sql`
      select
      from codehost_calls
      where org_id = ${caller.orgId}
        and action ->> 'type' = 'decision'`
    assert.equal(calls.length, given.status === 200 ? 1 : 0)
    const before = await rows(played)
    await applyEvents(api, source, [...ASKED, status('in_progress', 5)])
    assert.deepEqual(await rows(played), before)
  }
})
