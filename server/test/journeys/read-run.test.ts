import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { HostUnavailable } from '../../src/codehosts/code-host.ts'
import { applyEvents } from '../../src/codehosts/deliveries/apply-events.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { hostEventHandlers } from '../../src/host-event-handlers.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { hostDeployment, hostStatus } from '../support/host-deployments.ts'
import { hostRun, insertConnection } from '../support/host-objects.ts'
import { hostJob } from '../support/provider-runs.ts'
import { clearJobs, drainQueue } from '../support/queue.ts'

const host = fakeCodeHost()
let reads: string[]
let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  await clearJobs(api.services.sql)
  caller = await api.caller()
  source = await insertConnection(api.services.sql, caller.orgId)
  reads = []
  host.answers.readRun = async (_repository, id) => {
    reads.push(id)
    return hostRun({ id })
  }
  const away = async () => {
    throw new HostUnavailable('away')
  }
  Object.assign(host.answers, { readCommits: async () => [], readAccount: async () => null, readEnvironment: away })
})

async function apply(...events: HostEvent[]): Promise<void> {
  const { services } = api
  await services.sql.begin((tx) => applyEvents({ services, handlers: hostEventHandlers }, tx, source, events))
}

async function show(path: string) {
  return (await api.request('GET', path, { key: caller.key })).body.data
}

test('a run of which only a job is known is read from the host', async () => {
  await apply({ kind: 'job', data: hostJob() })
  await drainQueue(api)
  assert.deepEqual(reads, [hostRun().id])
  assert.equal((await show(`/v1/runs/gh_run_${hostRun().id}`)).workflow_name, 'CI')
})

test('a run of which only a deployment is known is read from the host', async () => {
  const deployment = hostDeployment()
  await apply(
    { kind: 'deployment', data: deployment },
    { kind: 'deployment_status', data: hostStatus('in_progress', deployment.created_at) },
  )
  await drainQueue(api, 'deployments.read-environment')
  assert.deepEqual(reads, [deployment.run?.id])
  const [shown] = await show('/v1/deployments')
  assert.equal(shown.workflow_name, 'CI')
})

test('a run whose own event arrives in the meantime is not read', async () => {
  await apply({ kind: 'job', data: hostJob() })
  await apply({ kind: 'run', data: hostRun() })
  await drainQueue(api)
  assert.deepEqual(reads, [])
})
