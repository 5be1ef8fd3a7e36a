import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'viewer' })
})

const VIEW = { list: 'issues', name: 'Mine', search: { status: 'open', severity: 'high' } }
const save = (view: Json = VIEW, who = ada) => requestAs(api, who, 'POST', '/saved-views', view)
const remove = (id: string, who = ada) => requestAs(api, who, 'DELETE', `/saved-views/${id}`)

async function names(who = ada): Promise<string[]> {
  const { body } = await requestAs(api, who, 'GET', '/saved-views')
  return body.data.map(({ name }: Json) => name)
}

test('a view is saved, listed by name and deleted', async () => {
  const { status, body } = await save()
  assert.equal(status, 201)
  assert.deepEqual(body.data, { ...VIEW, id: body.data.id, created_at: api.clock.now().toISOString() })
  await save({ ...VIEW, name: 'all' })
  assert.deepEqual(await names(), ['all', 'Mine'])
  assert.equal((await remove(body.data.id)).status, 204)
  assert.deepEqual(await names(), ['all'])
  assertError(await remove(body.data.id), 404, 'not_found')
})

test('nobody else sees a view or can delete it, and another organization has others', async () => {
  const { body } = await save()
  const grace = await createPerson(api, caller)
  assert.deepEqual(await names(grace), [])
  assertError(await remove(body.data.id, grace), 404, 'not_found')
  const { slug } = await api.caller()
  assertError(await requestAs(api, ada, 'GET', `/app/api/orgs/${slug}/saved-views`), 404, 'not_found')
  assert.deepEqual(await names(), ['Mine'])
})

test('a name is unique in its list, whatever its case', async () => {
  await save()
  assertError(await save({ ...VIEW, name: 'MINE' }), 409, 'name_taken')
  assert.equal((await save({ ...VIEW, list: 'findings' })).status, 201)
})

test('a person has at most 100 views, also if they are saved at once', async () => {
  for (let number = 0; number < 98; number++) await save({ ...VIEW, name: `${number}` })
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => save({ ...VIEW, name })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409])
  assertError(await save(), 409, 'too_many_saved_views')
})

for (const [what, change, path] of [
  ['another list', { list: 'people' }, '/body/list'],
  ['a blank name', { name: ' ' }, '/body/name'],
  ['a long value', { search: { status: 'x'.repeat(301) } }, '/body/search/status'],
  [
    'too many filters',
    { search: Object.fromEntries([...'abcdefghijklmnopqrstuvwxyz'].map((key) => [key, '1'])) },
    '/body/search',
  ],
] as const) {
  test(`400 for ${what}`, async () => assertInvalid(await save({ ...VIEW, ...change }), path))
}

test('a member who is removed takes their views along', async () => {
  await save()
  const admin = await createPerson(api, caller)
  assert.equal((await requestAs(api, admin, 'DELETE', `/members/${ada.userId}`)).status, 204)
  const rows = await api.services.sql`select from saved_views where user_id = ${ada.userId}`
  assert.equal(rows.length, 0)
})
