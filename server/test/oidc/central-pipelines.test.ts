// No second chance: who may speak for a repository.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { SpeaksFor } from '../../src/access/oidc-trusts/token-job.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { TESTS } from '../support/ci-reports.ts'
import { newRun } from '../support/ci-runs.ts'
import { createUpload } from '../support/reports.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../support/token-caller.ts'

const STRANGE = { event_name: 'pull_request_target' }
const NAMED = 'github.com/acme/api'
const OTHER = 'github.com/globex/api'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function startCentral(t: { after(close: () => unknown): void }, terms: Partial<SpeaksFor>): Promise<TokenCaller> {
  const caller = await startTokenCaller(api, { trust: { speaks_for: ['acme/api', 'gitlab.com/acme/*'], ...terms } })
  t.after(() => caller.close())
  return caller
}

const postRun = (by: TokenCaller, fields: Record<string, unknown>, claims: Claims = {}): Promise<Answer> =>
  by.send('POST', '/v1/ci/runs', newRun(fields), newRunClaims(claims))

const report = (by: TokenCaller, runId: string, claims: Claims = {}): Promise<Answer> =>
  by.send('POST', `/v1/ci/runs/${runId}/reports`, { job: { name: 'unit' } }, newRunClaims(claims))

async function upload(by: TokenCaller, options: Record<string, unknown>, claims: Claims = {}): Promise<Answer> {
  return createUpload(api, { ...by, key: await by.sign(newRunClaims(claims)) }, Buffer.from('{}'), options)
}

for (const [as, trust, lane] of [
  ['uploaded', 'self_reported', 'uploaded'],
  ['verified', 'verified', 'verified'],
] as const)
  test(`a central pipeline states runs, reports, gates and uploads of the repositories that its trust names, as ${as}`, async (t) => {
    const by = await startCentral(t, { as })
    const run = await postRun(by, { repository: NAMED })
    assert.equal(run.status, 201, run.text)
    assert.deepEqual([run.body.data.trust, run.body.data.repository], [trust, NAMED])
    const reported = await report(by, run.body.data.id)
    assert.equal(reported.status, 201, reported.text)
    const attested = `/v1/ci/runs/${run.body.data.id}/reports/${reported.body.data.report_id}/attestations`
    const sent = await by.send('POST', attested, { attestations: [TESTS] }, newRunClaims())
    assert.ok(sent.status < 300, sent.text)
    const read = await api.request('GET', `/v1/runs/${run.body.data.id}`, { key: by.key })
    assert.equal(read.body.data.attestations?.[0]?.trust ?? read.body.data.trust, trust, read.text)
    const uploaded = await upload(by, { repository: 'acme/api', provider: 'github' })
    assert.equal(uploaded.status, 201, uploaded.text)
    const rows = await api.services.sql`select lane from security_upload_lanes where org_id = ${by.orgId}`
    assert.deepEqual(
      rows.map((row) => row.lane),
      [lane === 'uploaded' ? 'key' : 'verified'],
    )
  })

test('403 for repositories that the trust does not name, on other hosts, too', async (t) => {
  const by = await startCentral(t, { as: 'verified' })
  for (const repository of [OTHER, 'gitlab.com/globex/api', 'github.com/acme/api2', 'github.com/acme/api/x'])
    assertError(await postRun(by, { repository }), 403, 'forbidden')
  const { key } = by
  const other = await api.request('POST', '/v1/ci/runs', { key, body: newRun({ repository: OTHER }) })
  assertError(await report(by, other.body.data.id), 403, 'forbidden')
  for (const options of [
    { repository: 'globex/api' },
    { repository: 'acme/deep/api', provider: 'gitlab', repositoryId: '12345' },
    // Nobody knows whose id it is, whatever name comes with it.
    { repository: 'acme/api', provider: 'github', repositoryId: '991' },
  ])
    assertError(await upload(by, options), 403, 'forbidden')
})

test('403 for a job in which code of strangers may have run, whatever its trust names', async (t) => {
  const by = await startCentral(t, { as: 'verified' })
  const run = await postRun(by, { repository: NAMED })
  assertError(await postRun(by, { repository: NAMED }, STRANGE), 403, 'forbidden')
  assertError(await report(by, run.body.data.id, STRANGE), 403, 'forbidden')
  assertError(await upload(by, { repository: 'acme/api' }, STRANGE), 403, 'forbidden')
})

test('about the run of an API key, a central pipeline is no better than that', async (t) => {
  const by = await startCentral(t, { as: 'verified' })
  const { key } = by
  const run = await api.request('POST', '/v1/ci/runs', { key, body: newRun({ repository: NAMED }) })
  const { status, body, text } = await report(by, run.body.data.id)
  assert.equal(status, 201, text)
  const [stored] = await api.services.sql`select trust from ci_reports where id = ${body.data.report_id}`
  assert.equal(stored?.trust, 'self_reported')
})

test('no job takes over what a central pipeline stated, and it takes over nothing', async (t) => {
  const by = await startCentral(t, { as: 'verified' })
  const claims = newRunClaims()
  const number = { ci_system: 'github-actions', external_run_id: claims.run_id }
  assert.equal((await postRun(by, { ...number, repository: NAMED })).status, 201)
  assertError(await by.send('POST', '/v1/ci/runs', ownRun(claims), claims), 409, 'run_conflict')
  const owned = newRunClaims()
  assert.equal((await by.send('POST', '/v1/ci/runs', ownRun(owned), owned)).status, 201)
  const taken = { ci_system: 'github-actions', external_run_id: owned.run_id, repository: NAMED }
  assertError(await postRun(by, taken), 409, 'run_conflict')
})

test('a central pipeline is verified beside what an API key states under the same number', async (t) => {
  const by = await startCentral(t, { as: 'verified' })
  const run = newRun({ repository: NAMED })
  const { key } = by
  const stated = await api.request('POST', '/v1/ci/runs', { key, body: run })
  const beside = await by.send('POST', '/v1/ci/runs', run, newRunClaims())
  assert.equal(beside.status, 201, beside.text)
  assert.notEqual(beside.body.data.id, stated.body.data.id)
})

test('without speaks_for, a job speaks about its own repository only', async (t) => {
  const by = await startCentral(t, { speaks_for: [] })
  assertError(await postRun(by, { repository: NAMED }), 403, 'forbidden')
  assertError(await upload(by, { repository: 'acme/api' }), 403, 'forbidden')
})
