import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findPolicyFacts } from '../../../../../src/security/issues/policy-facts.store.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { createUpload, uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'

let api: TestApi
let github: TokenCaller

before(async () => {
  api = await startTestApi()
  github = await startTokenCaller(api)
})
after(async () => {
  await github?.close()
  await api?.close()
})

const report = (rule: string) => sarif([sarifResult(rule)])
const asJob = async (caller: TokenCaller, claims = {}) => ({ ...caller, key: await caller.sign(claims) })

async function create(caller: TokenCaller, options: Record<string, unknown>, claims = {}): Promise<Answer> {
  return createUpload(api, await asJob(caller, claims), Buffer.from('{}'), options)
}

for (const [what, options] of [
  ['its name', { repository: 'acme/shop' }],
  ['its name in other case', { repository: 'Acme/SHOP' }],
  ['its address', { repository: 'github.com/acme/shop' }],
  ['its name and provider', { repository: 'acme/shop', provider: 'github' }],
  ['its provider and id', { repository: 'acme/shop', provider: 'github', repositoryId: '7770001' }],
  ['its id and a former name', { repository: 'acme/store', provider: 'github', repositoryId: '7770001' }],
] as const) {
  test(`201 for a token that names its repository by ${what}`, async () => {
    const { status, body, text } = await create(github, { ...options, category: what.replaceAll(' ', '-') })
    assert.equal(status, 201, text)
    const { repository, provider, repository_id } = body.data.upload
    assert.deepEqual([repository, provider, repository_id], ['acme/shop', 'github', '7770001'])
  })
}

for (const [what, options] of [
  ['name', { repository: 'acme/api' }],
  ['host', { repository: 'gitlab.com/acme/shop' }],
  ['provider', { repository: 'acme/shop', provider: 'gitlab' }],
  ['id', { repository: 'acme/shop', provider: 'github', repositoryId: '2' }],
] as const) {
  test(`403 forbidden for a token that names another ${what} than its repository has`, async () => {
    assertError(await create(github, options), 403, 'forbidden')
  })
}

test('a token reads and completes the uploads of its own repository only', async () => {
  const { id } = (await create(github, { repository: 'acme/shop', category: 'own' })).body.data.upload
  const other = await createUpload(api, github, Buffer.from('{}'), { repository: 'acme/api' })
  for (const [upload, get, complete] of [
    [id, 200, 409],
    [other.body.data.upload.id, 403, 403],
    ['0'.repeat(32), 404, 404],
  ]) {
    assert.equal((await github.send('GET', `/v1/security/uploads/${upload}`, undefined)).status, get)
    assert.equal((await github.send('POST', `/v1/security/uploads/${upload}/complete`, undefined)).status, complete)
  }
})

test('a renamed repository can be named as the organization knows its id', async () => {
  const caller = await startTokenCaller(api)
  await link(api, caller, { provider: 'github', id: '7770001', name: 'acme/store' })
  const { status, body, text } = await create(caller, { repository: 'acme/store' })
  assert.equal(status, 201, text)
  assert.deepEqual(body.data.upload.repository_id, '7770001')
  await caller.close()
})

test('a token without names belongs to the repository with its id, and cannot name one that has another id', async () => {
  const caller = await startTokenCaller(api, { provider: 'bitbucket' })
  const { status, body, text } = await create(caller, { repository: 'acme/shop' })
  assert.equal(status, 201, text)
  assert.deepEqual(body.data.upload.repository_id, '8864cd24-449d-4441-8862-cf4fe8ad6caa')
  await link(api, caller, { provider: 'bitbucket', id: '11111111-449d-4441-8862-cf4fe8ad6caa', name: 'acme/api' })
  assertError(await create(caller, { repository: 'acme/api' }), 403, 'forbidden')
  await caller.close()
})

async function trustOfScans(caller: TokenCaller): Promise<(string | null)[]> {
  const facts = await findPolicyFacts(api.services.sql, caller.orgId, 'github.com/acme/shop', 'main')
  return facts.scans.map(({ trust }) => trust).sort()
}

test('policies see the newest report of each lane, also of one file that several have sent', async (t) => {
  const caller = await startTokenCaller(api)
  t.after(() => caller.close())
  const options = { repository: 'acme/shop', gitRef: 'main' }
  const send = async (claims = {}) => uploadReport(api, await asJob(caller, claims), report('a'), options)
  await send(newRunClaims({ event_name: 'pull_request_target' }))
  assert.deepEqual(await trustOfScans(caller), ['untrusted'])
  await send(newRunClaims({ event_name: 'pull_request' }))
  assert.deepEqual(await trustOfScans(caller), ['untrusted'])
  await send(newRunClaims())
  assert.deepEqual(await trustOfScans(caller), ['untrusted', 'verified'])
  const id = { provider: 'github', repositoryId: '7770001' }
  await uploadReport(api, caller, report('b'), { ...options, ...id })
  assert.deepEqual(await trustOfScans(caller), ['untrusted', 'uploaded', 'verified'])
})

test('policies see a report for a repository of a server of its own that is not linked', async () => {
  const caller = await startTokenCaller(api, { path: '/_services/token' })
  const repository = `${new URL(caller.issuerUrl).host}/acme/shop`
  const claims = newRunClaims()
  const made = await caller.send('POST', '/v1/ci/runs', ownRun(claims, { repository }), claims)
  assert.equal(made.status, 201, made.text)
  await uploadReport(api, await asJob(caller, claims), report('a'), { repository: 'acme/shop', gitRef: 'main' })
  const facts = await findPolicyFacts(api.services.sql, caller.orgId, repository, 'main')
  assert.deepEqual([facts.scans[0]?.trust, facts.findings.open.high + facts.findings.open.medium], ['verified', 1])
  await caller.close()
})
