import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertInvalid } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import type { Json } from '../../../support/json.ts'
import { testListContract } from '../../../support/list-contract.ts'
import { responseChecker } from '../../../support/response-schema.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: '/v1/runs',
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ status: 'in_progress' }, { status: 'queued' }],
  store: async (to, caller, count) => {
    for (let made = 0; made < count; made += 1) await createRun(to, caller)
    // Its time limit is further away than any retention.
    await to.services.sql`update ci_runs set deadline_at = 'infinity' where org_id = ${caller.orgId}`
  },
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`
      update ci_runs
      set status = 'success', started_at = created_at, completed_at = created_at
      where org_id = ${orgId}`
  },
})

function list({ key }: Caller, query: Record<string, string> = {}): Promise<Answer> {
  return api.request('GET', `/v1/runs?${new URLSearchParams(query)}`, { key })
}

async function createRuns(caller: Caller, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.unshift((await createRun(api, caller)).id)
  return ids
}

const idsOf = ({ body }: Answer): string[] => body.data.map((run: Json) => run.id)

test('200 with 50 runs by default, newest first, and up to 100 with limit', async () => {
  const caller = await api.caller()
  const ids = await createRuns(caller, 101)
  const byDefault = await list(caller)
  assert.deepEqual(idsOf(byDefault), ids.slice(0, 50))
  ;(await responseChecker(api))('/v1/runs', '200', byDefault.body)
  for (const limit of [1, 2, 100]) {
    const page = await list(caller, { limit: String(limit) })
    assert.deepEqual(idsOf(page), ids.slice(0, limit))
    assert.equal(typeof page.body.next_cursor, 'string')
  }
})

test('recovered=false lists failures that no run of the same trust or more has mended on the branch', async () => {
  const caller = await api.caller()
  const run = async (pipeline_name: string, status: string, ref = 'main') => {
    api.clock.advance(1000)
    const { id } = await createRun(api, caller, { pipeline_name, ref })
    await patchRun(api, caller, id, { status })
    return id
  }
  const mended = await run('mended', 'failure')
  await run('mended', 'success')
  const elsewhere = await run('elsewhere', 'failure')
  await run('elsewhere', 'success', 'topic')
  const weaker = await run('weaker', 'failure')
  await api.services.sql`update ci_runs set trust = 'verified' where org_id = ${caller.orgId} and id = ${weaker}`
  await run('weaker', 'success')
  assert.deepEqual(idsOf(await list(caller, { status: 'failure', recovered: 'false' })), [weaker, elsewhere])
  assert.deepEqual(idsOf(await list(caller, { status: 'failure', recovered: 'true' })), [mended])
  const { body } = await list(caller, { status: 'failure', count: 'true', limit: '1' })
  assert.deepEqual(body.meta.matching, { count: 3, exact: true })
})

test('status filters on the status of the newest attempt', async () => {
  const caller = await api.caller()
  const failed = await createRun(api, caller, { external_run_id: 'failed' })
  const retried = await createRun(api, caller, { external_run_id: 'retried' })
  for (const { id } of [failed, retried]) await patchRun(api, caller, id, { status: 'failure' })
  await createRun(api, caller, { external_run_id: 'retried', attempt: 2, status: 'queued' })
  assert.deepEqual(idsOf(await list(caller, { status: 'failure' })), [failed.id])
  assert.deepEqual(idsOf(await list(caller, { status: 'queued' })), [retried.id])
  assert.deepEqual(idsOf(await list(caller, { status: 'success' })), [])
  assertInvalid(await list(caller, { status: 'failed' }), '/query/status')
})

test('repository filters on the exact name, whatever the host, and combines with branch and status', async () => {
  const caller = await api.caller()
  const main = await createRun(api, caller, { repository: 'github.com/acme/web', ref: 'refs/heads/main' })
  const nested = await createRun(api, caller, { repository: 'gitlab.com/acme/group/web', ref: 'main' })
  const mirror = await createRun(api, caller, { repository: 'git.example.com/acme/web', ref: 'fix' })
  const tag = await createRun(api, caller, { repository: 'github.com/acme/web', ref: 'refs/tags/main' })
  assert.deepEqual(idsOf(await list(caller, { repository: 'acme/web' })), [tag.id, mirror.id, main.id])
  assert.deepEqual(idsOf(await list(caller, { repository: 'acme/group/web' })), [nested.id])
  assert.deepEqual(idsOf(await list(caller, { repository: 'Acme/web' })), [])
  assert.deepEqual(idsOf(await list(caller, { repository: 'acme/web', branch: 'main' })), [main.id])
  assert.deepEqual(idsOf(await list(caller, { repository: 'acme/web', branch: 'refs/heads/main' })), [main.id])
  assertInvalid(await list(caller, { branch: 'main' }), '/query/branch')
  await patchRun(api, caller, main.id, { status: 'failure' })
  assert.deepEqual(idsOf(await list(caller, { repository: 'acme/web', status: 'failure' })), [main.id])
  for (const repository of ['web', '/web', 'acme/', ''])
    assertInvalid(await list(caller, { repository }), '/query/repository')
  for (const branch of ['', 'refs/tags/v1', 'refs/heads/'])
    assertInvalid(await list(caller, { repository: 'acme/web', branch }), '/query/branch')
})

test('status timed_out includes runs whose deadline has just passed, and open statuses do not', async () => {
  const caller = await api.caller()
  const settled = await createRun(api, caller)
  await patchRun(api, caller, settled.id, { status: 'timed_out' })
  const overdue = await createRun(api, caller)
  api.clock.advance(49 * 3_600_000)
  const open = await createRun(api, caller)
  assert.deepEqual(idsOf(await list(caller, { status: 'timed_out' })), [overdue.id, settled.id])
  assert.deepEqual(idsOf(await list(caller, { status: 'timed_out', limit: '1' })), [overdue.id])
  assert.deepEqual(idsOf(await list(caller, { status: open.status })), [open.id])
})
