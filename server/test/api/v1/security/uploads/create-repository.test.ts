import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { createUpload, uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const UUID = '0f0e0d0c-0b0a-4908-8706-050403020100'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

let files = 0
const create = (fields: Record<string, unknown>) => createUpload(api, caller, Buffer.from(`file ${++files}`), fields)

/** Which repository an upload is about: provider, id and name. */
async function resolve(fields: Record<string, unknown>) {
  const answer = await create(fields)
  assert.equal(answer.status, 201, answer.text)
  const { provider, repository_id, repository } = answer.body.data.upload
  return [provider, repository_id, repository]
}

test('exactly one provider has the repository: its provider and id are filled in', async () => {
  await link(api, caller, { provider: 'gitlab', id: '42', name: 'acme/app' })
  assert.deepEqual(await resolve({ repository: 'acme/app' }), ['gitlab', '42', 'acme/app'])
  assert.deepEqual(await resolve({ repository: 'acme/app', provider: null }), ['gitlab', '42', 'acme/app'])
  assert.deepEqual(await resolve({ repository: 'ACME/App' }), ['gitlab', '42', 'acme/app'])
})

test('400 REPOSITORY_AMBIGUOUS when two providers have the name; provider, with or without id, decides', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  await link(api, caller, { provider: 'bitbucket', id: UUID, name: 'acme/app' })
  for (const fields of [{}, { provider: null }]) {
    const details = assertError(await create({ repository: 'acme/app', ...fields }), 400, 'REPOSITORY_AMBIGUOUS')
    assert.equal(details.reason, 'REPOSITORY_AMBIGUOUS')
  }
  const named = { repository: 'acme/app', provider: 'github' }
  assert.deepEqual(await resolve(named), ['github', '1', 'acme/app'])
  assert.deepEqual(await resolve({ ...named, repositoryId: '1' }), ['github', '1', 'acme/app'])
  assert.deepEqual(await resolve({ ...named, provider: 'bitbucket' }), ['bitbucket', UUID, 'acme/app'])
})

test('400 REPOSITORY_AMBIGUOUS when two hosts of one provider have the name; the id decides', async () => {
  await link(api, caller, { provider: 'gitlab', id: '1', name: 'acme/app' })
  await link(api, caller, { provider: 'gitlab', id: '2', name: 'acme/app', host: 'git.acme.example' })
  assertError(await create({ repository: 'acme/app', provider: 'gitlab' }), 400, 'REPOSITORY_AMBIGUOUS')
  const byId = { repository: 'acme/app', provider: 'gitlab', repositoryId: '2' }
  assert.deepEqual(await resolve(byId), ['gitlab', '2', 'acme/app'])
})

test('no provider has the repository, but one has an account named like its owner: that provider, no id yet', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/other' })
  assert.deepEqual(await resolve({ repository: 'Acme/app' }), ['github', null, 'Acme/app'])
  assert.deepEqual(await resolve({ repository: 'acm/app' }), [null, null, 'acm/app'])
})

test('400 REPOSITORY_AMBIGUOUS when accounts of two providers are named like the owner', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/one' })
  await link(api, caller, { provider: 'gitlab', id: '2', name: 'acme/two' })
  assertError(await create({ repository: 'acme/app' }), 400, 'REPOSITORY_AMBIGUOUS')
})

test('no provider has the repository: it is kept under its name alone', async () => {
  assert.deepEqual(await resolve({ repository: 'acme/app' }), [null, null, 'acme/app'])
  assert.deepEqual(await resolve({ repository: 'group/sub/app' }), [null, null, 'group/sub/app'])
})

test('repositories of another organization have no effect', async () => {
  await link(api, await api.caller(), { provider: 'github', id: '1', name: 'acme/app' })
  assert.deepEqual(await resolve({ repository: 'acme/app' }), [null, null, 'acme/app'])
})

test('400 when repositoryId comes without provider', async () => {
  assertInvalid(await create({ repositoryId: '1' }), '/body/provider')
  assertInvalid(await create({ repositoryId: '1', provider: null }), '/body/provider')
})

test("repositoryId has the provider's form: a number, a project id, a UUID or a GUID; 400 otherwise", async () => {
  const taken: [provider: string, id: string, stored: string][] = [
    ['github', '1296269', '1296269'],
    ['gitlab', '7', '7'],
    ['bitbucket', UUID, UUID],
    ['bitbucket', `{${UUID}}`, UUID],
    ['azure', UUID.toUpperCase(), UUID],
  ]
  for (const [provider, repositoryId, stored] of taken) {
    assert.deepEqual(await resolve({ provider, repositoryId }), [provider, stored, 'acme/app'])
  }
  for (const [provider, id] of [
    ['github', UUID],
    ['github', '007'],
    ['bitbucket', '12'],
    ['azure', '12'],
  ]) {
    assertInvalid(await create({ provider, repositoryId: id }), '/body/repositoryId')
  }
})

test('the id of a linked repository identifies it, even if another name is sent', async () => {
  await link(api, caller, { provider: 'github', id: '9', name: 'acme/renamed' })
  const fields = { repository: 'acme/app', provider: 'github', repositoryId: '9' }
  assert.deepEqual(await resolve(fields), ['github', '9', 'acme/renamed'])
})

test('gitRef empty or absent is the tracked branch, which opens findings; another branch does not; tracked decides', async () => {
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app', trackedBranch: 'trunk' })
  const ref = async (fields: Record<string, unknown>) => {
    const { git_ref, tracked } = (await create(fields)).body.data.upload
    return [git_ref, tracked]
  }
  assert.deepEqual(await ref({}), ['trunk', true])
  assert.deepEqual(await ref({ gitRef: '' }), ['trunk', true])
  assert.deepEqual(await ref({ gitRef: 'trunk' }), ['trunk', true])
  assert.deepEqual((await ref({ gitRef: 'refs/heads/trunk' }))[1], true)
  assert.deepEqual(await ref({ gitRef: 'feature' }), ['feature', false])
  assert.deepEqual(await ref({ gitRef: 'refs/tags/trunk' }), ['refs/tags/trunk', false])
  assert.deepEqual(await ref({ gitRef: 'feature', tracked: true }), ['feature', true])
  assert.deepEqual(await ref({ tracked: false }), ['trunk', false])
})

test('a report kept under its name alone follows when the repository is seen, and is the same repository from then on', async () => {
  const options = { repository: 'acme/app', gitRef: 'main' }
  const before = await uploadReport(api, caller, sarif([sarifResult('a'), sarifResult('b')]), options)
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  api.clock.advance(1)
  const after = await uploadReport(api, caller, sarif([sarifResult('a')]), options)
  assert.deepEqual([after.counts.created, after.counts.unchanged, after.counts.resolved], [0, 1, 1])
  const findings = await listFindings(api, caller, { provider: 'github', repository_id: '1' })
  assert.deepEqual(findings.map(({ state }) => state).sort(), ['fixed', 'open'])
  const read = await api.request('GET', `/v1/security/uploads/${before.id}`, { key: caller.key })
  assert.deepEqual([read.body.data.provider, read.body.data.repository_id], ['github', '1'])
})

test('reports by name and without a ref belong to the tracked branch once the repository is linked', async () => {
  const report = (rules: string[], options: Record<string, unknown> = {}) => {
    api.clock.advance(1)
    return uploadReport(api, caller, sarif(rules.map((rule) => sarifResult(rule))), options)
  }
  const unseen = await report(['a', 'b'])
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app', trackedBranch: 'trunk' })
  const seen = await report(['a'])
  assert.deepEqual([seen.counts.unchanged, seen.counts.resolved, seen.git_ref], [1, 1, 'trunk'])
  const again = await report(['a', 'b'], { gitRef: 'trunk' })
  assert.equal(again.id, unseen.id)
})

test('uploads by name stay under the name when two providers turn out to have it', async () => {
  await uploadReport(api, caller, sarif([sarifResult('a')]))
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  await link(api, caller, { provider: 'gitlab', id: '2', name: 'acme/app' })
  await uploadReport(api, caller, sarif([sarifResult('b')]), { provider: 'github' })
  const [older] = (await listFindings(api, caller)).filter(({ rule_id }) => rule_id === 'a')
  assert.deepEqual([older.provider, older.repository_id], [null, null])
})

test('twelve simultaneous creates right after the repository was linked: one 201, eleven 200, one repository', async () => {
  await create({})
  await create({ provider: 'github' })
  await link(api, caller, { provider: 'github', id: '1', name: 'acme/app' })
  const file = Buffer.from('the same file')
  const answers = await Promise.all(Array.from({ length: 12 }, () => createUpload(api, caller, file)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201])
  assert.deepEqual(new Set(answers.map(({ body }) => body.data.upload.repository_id)), new Set(['1']))
})
