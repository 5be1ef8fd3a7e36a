// No second chance: what a limited key may state.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { artifactOf, TESTS } from '../../../support/ci-reports.ts'
import { createRun, newRun } from '../../../support/ci-runs.ts'
import { answer, auditOf, configureGate, openGate } from '../../../support/gates.ts'
import { hostRepository, insertConnection } from '../../../support/host-objects.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { createUpload, uploadReport } from '../../../support/reports.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'
import { notAffected, openVex } from '../../../support/vex.ts'

let api: TestApi
/** A key for everything, and one for `acme/shop` and the repositories of `tools` on one host. */
let caller: Caller
let limited: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  limited = await api.caller({ orgId: caller.orgId, repositories: ['Acme/Shop', 'github.com/tools/*'] })
  admin = await createPerson(api, caller)
  await configureGate(api, caller)
})
after(() => api?.close())

const OWN = 'github.com/acme/shop'
const OTHER = 'github.com/acme/web'

type Call = (key: string) => Promise<Answer>

/** Asserts that the limited key is refused, and that the other one is not. */
async function assertLimited(call: Call, expected: number): Promise<void> {
  const refused = await call(limited.key)
  assertError(refused, 403, 'forbidden')
  assert.match(refused.body.error.message, /^The API key (?:can only speak about Acme\/Shop|is limited)/)
  const { status, text } = await call(caller.key)
  assert.equal(status, expected, text)
}

const send =
  (method: string, path: string, body: object): Call =>
  (key) =>
    api.request(method, path, { key, body })

test('201 for runs of its repositories, in any case and spelling, and 403 for those of others', async () => {
  for (const repository of [OWN, 'git@GitHub.com:ACME/shop.git', 'github.com/tools/lint'])
    assert.equal((await send('POST', '/v1/ci/runs', newRun({ repository }))(limited.key)).status, 201)
  for (const repository of [OTHER, 'github.com/acme/shop/x', 'gitlab.com/tools/lint', 'github.com/evil/acme/shop'])
    await assertLimited(send('POST', '/v1/ci/runs', newRun({ repository })), 201)
})

test('403 for everything that a key can state about the run of another repository', async () => {
  const run = await createRun(api, caller, { repository: OTHER })
  const path = `/v1/ci/runs/${run.id}`
  const again = { ci_system: run.ci_system, external_run_id: run.external_run_id, repository: OWN }
  await assertLimited(send('POST', '/v1/ci/runs', newRun(again)), 200)
  await assertLimited(send('PATCH', path, { url: 'https://ci.example/1' }), 200)
  const report = { job: { name: 'test' } }
  await assertLimited(send('POST', `${path}/reports`, report), 201)
  const { body } = await send('POST', `${path}/reports`, report)(caller.key)
  const stored = `${path}/reports/${body.data.report_id}`
  await assertLimited(send('POST', `${stored}/attestations`, { attestations: [TESTS] }), 200)
  const artifacts = [artifactOf('a.txt', 'a')]
  await assertLimited(send('POST', `${stored}/artifacts`, { artifacts }), 200)
  const slot = (await send('POST', `${stored}/artifacts`, { artifacts })(caller.key)).body.data.uploads[0]
  await assertLimited(send('POST', `${stored}/artifacts/complete`, { artifact_ids: [slot.artifact_id] }), 200)
  await assertLimited(send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'production' }), 201)
  await assertLimited(send('PATCH', path, { status: 'failure' }), 200)
})

test('403 to approve or reject the deployment of another repository', async () => {
  for (const verb of ['approve', 'reject'] as const) {
    const other = await openGate(api, caller, { run_id: (await createRun(api, caller, { repository: OTHER })).id })
    assertError(await answer(api, limited, other.deployment_id, verb), 403, 'forbidden')
    const own = await openGate(api, caller, { run_id: (await createRun(api, caller, { repository: OWN })).id })
    assert.equal((await answer(api, limited, own.deployment_id, verb)).status, 200)
  }
})

test('403 to upload for another repository, by its name, by its id, and to complete such an upload', async () => {
  await insertConnection(api.services.sql, caller.orgId, hostRepository({ id: '31', full_name: 'acme/web' }))
  await insertConnection(api.services.sql, caller.orgId, hostRepository({ id: '32', full_name: 'tools/lint' }))
  let files = 0
  const upload =
    (fields: object): Call =>
    (key) =>
      createUpload(api, { ...caller, key }, Buffer.from(`file ${++files}`), { ...fields })
  await assertLimited(upload({ repository: 'acme/web' }), 201)
  await assertLimited(upload({ repository: 'evil/shop' }), 201)
  await assertLimited(upload({ repository: 'acme/shop', provider: 'github', repositoryId: '31' }), 201)
  await assertLimited(upload({ repository: 'acme/shop', provider: 'github', repositoryId: '999' }), 201)
  await assertLimited(upload({ repository: 'tools/lint', provider: 'gitlab' }), 201)
  for (const fields of [
    { repository: 'acme/shop' },
    { repository: 'tools/lint' },
    { repository: 'renamed/since', provider: 'github', repositoryId: '32' },
    { repository: 'tools/new', provider: 'github' },
  ]) {
    const made = await upload(fields)(limited.key)
    assert.equal(made.status, 201, `${JSON.stringify(fields)} ${made.text}`)
  }
  const { id } = (await upload({ repository: 'acme/web' })(caller.key)).body.data.upload
  assertError(await send('POST', `/v1/security/uploads/${id}/complete`, {})(limited.key), 403, 'forbidden')
})

test('403 to end or take over the streams of another repository, and to confirm its VEX documents', async () => {
  const proposer = await api.caller({ orgId: caller.orgId, scopes: ['write:security-findings', 'read:security'] })
  const vex = openVex([notAffected('CVE-2021-23337', ['pkg:npm/lodash@4.17.20'])])
  for (const [repository, assertStream] of [
    ['acme/web', assertLimited],
    ['acme/shop', async (call: Call, status: number) => assert.equal((await call(limited.key)).status, status)],
  ] as const) {
    await uploadReport(api, caller, sarif([sarifResult(repository)]), { repository })
    const listed = await api.request('GET', `/v1/security/streams?repository=${repository}`, { key: caller.key })
    const path = `/v1/security/streams/${listed.body.data[0].id}`
    await assertStream(send('POST', `${path}/take-over`, { from: listed.body.data[0].id }), 409)
    await assertStream(send('POST', `${path}/end`, { reason: 'Gone.' }), 200)
    const { id } = await uploadReport(api, proposer, vex, { repository })
    await assertStream(send('POST', `/v1/security/uploads/${id}/confirm`, {}), 200)
  }
})

test('201 with the repositories, which the list and the audit log show; they limit the key at once', async () => {
  const body = { name: 'shop', scopes: ['write:ci'], repositories: ['acme/shop', ' acme/shop '] }
  const made = await requestAs(api, admin, 'POST', '/api-keys', body)
  assert.deepEqual([made.status, made.body.data?.repositories], [201, ['acme/shop']], made.text)
  const { id, key } = made.body.data
  const [listed] = (await requestAs(api, admin, 'GET', '/api-keys')).body.data.filter(
    (one: { id: string }) => one.id === id,
  )
  assert.deepEqual(listed.repositories, ['acme/shop'])
  assert.deepEqual((await auditOf(api, caller, id))[0]?.details.repositories, ['acme/shop'])
  assertError(await send('POST', '/v1/ci/runs', newRun({ repository: OTHER }))(key), 403, 'forbidden')
  const all = await requestAs(api, admin, 'POST', '/api-keys', { name: 'all', scopes: ['write:ci'] })
  assert.equal(all.body.data.repositories, null)
})

test('400 for no pattern, too many, and one that is not valid', async () => {
  for (const repositories of [
    [],
    [''],
    [' '],
    ['a{b'],
    ['a'.repeat(201)],
    Array.from({ length: 51 }, (_, n) => `a/${n}`),
  ]) {
    const refused = await requestAs(api, admin, 'POST', '/api-keys', { name: 'k', scopes: ['write:ci'], repositories })
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'], refused.text)
  }
})
