import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { testListContract } from '../../../../support/list-contract.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const MINUTE_MS = 60_000

let api: TestApi
let caller: Caller
let made = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

async function storeUploads(to: TestApi, owner: Caller, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    made += 1
    const created = await createUpload(to, owner, Buffer.from(`${made}`), { commitSha: `${1_000_000 + made}` })
    assert.equal(created.status, 201, created.text)
  }
}

testListContract({
  path: '/v1/security/uploads',
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ repository: 'acme/app' }, { repository: 'acme/other' }],
  store: async (to, caller, count) => {
    await storeUploads(to, caller, count)
    await to.services.sql`update security_uploads set status = 'queued' where org_id = ${caller.orgId}`
  },
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`
      update security_uploads
      set status = 'failed', error = 'upload expired', updated_at = created_at
      where org_id = ${orgId}`
  },
})

const get = (query = '', { key }: Caller = caller) => api.request('GET', `/v1/security/uploads${query}`, { key })
const ids = async (query = '') => (await get(query)).body.data.map(({ id }: { id: string }) => id)
const report = (rule: string) => Buffer.from(JSON.stringify(sarif([sarifResult(rule)])))

test('an upload in the list is the same as by its id, with every field', async () => {
  const upload = await uploadReport(api, caller, report('a'), { category: 'sast', commitSha: 'abcdef0' })
  assert.deepEqual((await get()).body.data, [upload])
})

test('status selects uploads as they are shown; one that has expired is failed, not pending', async () => {
  const finished = await uploadReport(api, caller, report('a'))
  const failed = await uploadReport(api, caller, 'broken')
  const expired = (await createUpload(api, caller, report('expired'))).body.data.upload
  api.clock.advance(15 * MINUTE_MS)
  assert.deepEqual(await ids('?status=pending'), [])
  const pending = await createUpload(api, caller, report('pending'))
  const queued = await createUpload(api, caller, report('queued'))
  await putFile(queued, report('queued'))
  const { id } = queued.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  assert.deepEqual(await ids('?status=finished'), [finished.id])
  assert.deepEqual(new Set(await ids('?status=failed')), new Set([failed.id, expired.id]))
  assert.deepEqual(await ids('?status=pending'), [pending.body.data.upload.id])
  assert.deepEqual(await ids('?status=queued'), [id])
  assert.deepEqual(await ids('?status=parsing'), [])
  assert.equal((await ids()).length, 5)
  assert.equal((await getUpload(api, caller, expired.id)).status, 'failed')
})

test('an expired upload that no job has marked yet is listed as failed', async () => {
  const { id } = (await createUpload(api, caller, report('a'))).body.data.upload
  api.clock.advance(15 * MINUTE_MS)
  const [listed] = (await get('?status=failed')).body.data
  assert.deepEqual([listed.id, listed.status, listed.error], [id, 'failed', 'upload expired'])
})

test('repository, provider and repository_id select uploads, also with a status', async () => {
  const one = await uploadReport(api, caller, report('a'), { provider: 'github', repositoryId: '1' })
  const two = await uploadReport(api, caller, report('a'), { provider: 'gitlab', repositoryId: '2' })
  assert.deepEqual(await ids('?provider=github'), [one.id])
  assert.deepEqual(await ids('?provider=gitlab&repository_id=2&status=finished'), [two.id])
  assert.deepEqual(await ids('?provider=gitlab&status=failed'), [])
  assert.deepEqual(await ids('?repository=acme/app&provider=github'), [one.id])
  assert.deepEqual(await ids('?repository=acme/none'), [])
  assertError(await get('?repository=acme/app'), 400, 'REPOSITORY_AMBIGUOUS')
})

test('400 that names the parameter for a value that is invalid, empty or repeated', async () => {
  for (const query of ['status=done', 'status=', 'status=failed&status=queued', 'status=a%00']) {
    assertInvalid(await get(`?${query}`), '/query/status')
  }
  assertInvalid(await get('?repository_id=1'), '/query/provider')
  assertInvalid(await get('?repository=acme'), '/query/repository')
})

test('403 without read:security, 402 on a plan without security uploads', async () => {
  const writer = await api.caller({ scopes: ['write:security-findings'] })
  assert.equal((await get('', writer)).text, '{"message":"Forbidden"}')
  assertError(await get('', await api.caller({ plan: 'free' })), 402, 'plan_required')
})
