import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const get = (query: string) => api.request('GET', `/v1/security/findings?${query}`, { key: caller.key })
/** Uploads a report with one finding of this rule. */
const report = (rule: string, options: Record<string, unknown>) =>
  uploadReport(api, caller, sarif([sarifResult(rule)]), options)
const rules = async (query: Record<string, string>) =>
  (await listFindings(api, caller, query)).map(({ rule_id }) => rule_id).sort()

test('same-named repositories on two providers never mix', async () => {
  await report('on-github', { provider: 'github', repositoryId: '1' })
  await report('on-gitlab', { provider: 'gitlab', repositoryId: '1' })
  assert.deepEqual(await rules({ repository: 'acme/app', provider: 'github' }), ['on-github'])
  assert.deepEqual(await rules({ repository: 'acme/app', provider: 'gitlab' }), ['on-gitlab'])
  assert.deepEqual(await rules({ provider: 'gitlab', repository_id: '1' }), ['on-gitlab'])
  assert.deepEqual(await rules({ provider: 'bitbucket' }), [])
  assert.deepEqual(await rules({}), ['on-github', 'on-gitlab'])
})

test('equal results of repositories with the same name are separate findings and do not close each other', async () => {
  await report('shared', { provider: 'github', repositoryId: '1' })
  const second = await report('shared', { provider: 'gitlab', repositoryId: '2' })
  assert.equal(second.counts.created, 1)
  const third = await uploadReport(api, caller, sarif([]), { provider: 'github', repositoryId: '1' })
  assert.equal(third.counts.resolved, 1)
  const states = async (provider: string) => (await listFindings(api, caller, { provider })).map(({ state }) => state)
  assert.deepEqual([await states('github'), await states('gitlab')], [['fixed'], ['open']])
})

test('repository, provider and repository_id narrow the list', async () => {
  await report('one', { repository: 'acme/one', provider: 'github', repositoryId: '1' })
  await report('two', { repository: 'acme/two', provider: 'github', repositoryId: '2' })
  await report('three', { repository: 'acme/three', provider: 'gitlab', repositoryId: '1' })
  await report('nowhere', { repository: 'acme/four' })
  assert.deepEqual(await rules({ repository: 'acme/one' }), ['one'])
  assert.deepEqual(await rules({ repository: 'ACME/One' }), ['one'])
  assert.deepEqual(await rules({ repository: 'acme/four' }), ['nowhere'])
  assert.deepEqual(await rules({ provider: 'github' }), ['one', 'two'])
  assert.deepEqual(await rules({ provider: 'github', repository_id: '2' }), ['two'])
  assert.deepEqual(await rules({ provider: 'gitlab', repository_id: '1' }), ['three'])
  assert.deepEqual(await rules({ repository: 'acme/two', provider: 'github', repository_id: '1' }), [])
  assert.deepEqual(await rules({ repository: 'acme/none' }), [])
})

test('400 REPOSITORY_AMBIGUOUS for a name that reports gave to two providers, without provider', async () => {
  await report('a', { provider: 'github', repositoryId: '1' })
  assert.equal((await get('repository=acme/app')).status, 200)
  await report('b', { provider: 'gitlab', repositoryId: '2' })
  const details = assertError(await get('repository=Acme/App'), 400, 'REPOSITORY_AMBIGUOUS')
  assert.equal(details.reason, 'REPOSITORY_AMBIGUOUS')
  assert.equal((await get('repository=acme/app&provider=github')).status, 200)
})

test('400 REPOSITORY_AMBIGUOUS for a name that two connected providers have, even if only one has reports', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  await link(api, caller, { provider: 'gitlab', id: '2', name: 'acme/app' })
  await report('a', { provider: 'github' })
  assertError(await get('repository=acme/app'), 400, 'REPOSITORY_AMBIGUOUS')
  assert.deepEqual(await rules({ repository: 'acme/app', provider: 'github' }), ['a'])
})

test('400 for repository_id without provider, and for values that are none', async () => {
  assertInvalid(await get('repository_id=1'), '/query/provider')
  for (const [name, value] of [
    ['provider', 'GitHub'],
    ['provider', ''],
    ['repository', 'acme'],
    ['repository', ''],
    ['repository', `a/${'b'.repeat(299)}`],
  ]) {
    assertInvalid(await get(`${name}=${value}`), `/query/${name}`)
  }
  assertInvalid(await get('provider=github&repository_id='), '/query/repository_id')
})

test('400, not a failure, for a name or an id with U+0000', async () => {
  assertInvalid(await get('repository=acme/a%00b'), '/query/repository')
  assertInvalid(await get('provider=github&repository_id=1%00'), '/query/repository_id')
})

test("a repository_id in the provider's other way to write it is the same repository", async () => {
  const id = '0f0e0d0c-0b0a-4908-8706-050403020100'
  await report('a', { provider: 'bitbucket', repositoryId: `{${id.toUpperCase()}}` })
  assert.deepEqual(await rules({ provider: 'bitbucket', repository_id: id }), ['a'])
  assert.deepEqual(await rules({ provider: 'bitbucket', repository_id: `{${id}}` }), ['a'])
})
