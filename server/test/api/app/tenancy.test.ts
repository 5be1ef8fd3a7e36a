import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { pathOf } from '../../support/call-operation.ts'
import { furnish } from '../../support/furnish.ts'
import { furnishPeople } from '../../support/furnish-people.ts'
import { type Operation, operationsOf, readOpenApi } from '../../support/openapi.ts'
import { createPerson, type Person, requestAs } from '../../support/people.ts'

const ORGANIZATION = '/app/api/orgs/{org}'

let api: TestApi
let operations: Operation[]
let owner: Caller
let admin: Person
let stranger: Person
let owned: Record<string, string>

before(async () => {
  api = await startTestApi()
  const all = operationsOf(JSON.parse(await readOpenApi(api, '/app/api')))
  operations = all.filter(({ path }) => path.startsWith(`${ORGANIZATION}/`))
  owner = await api.caller()
  admin = await createPerson(api, owner)
  owned = await furnishPeople(api, admin, operations, await furnish(api, owner))
  stranger = await createPerson(api, await api.caller())
})
after(() => api?.close())

/**
 * The owner's ids for the path parameters of an operation. `furnish` names objects by their paths
 * under /v1, or below the organization if /v1 does not have them.
 */
function idsOf({ path }: Operation): Record<string, string> {
  const own = path.slice(ORGANIZATION.length)
  const named = [...own.matchAll(/\/\{(\w+)\}/g)].map(({ 1: name = '', index }) => {
    const parent = own.slice(0, index)
    const id = owned[`/v1${parent}`] ?? owned[parent]
    return id === undefined ? assert.fail(`furnish creates nothing for ${path}`) : [name, id]
  })
  return Object.fromEntries(named)
}

/** Bodies of operations that refuse `{}`. They change nothing, because the object is foreign. */
const BODIES: Record<string, unknown> = {
  approveDeployment: { reason: 'Whoever finds it may read this.' },
  rejectDeployment: { reason: 'Whoever finds it may read this.' },
  splitIssue: { finding_ids: ['00000000-0000-4000-8000-000000000000'] },
  changeMemberRole: { role: 'viewer' },
  moveEnvironmentFacts: { position: 1 },
  setProviderAccount: { login: 'ada' },
  changeRole: { name: 'Reader' },
  endFindingStream: { reason: 'Whoever finds it may read this.' },
  takeOverFindingStream: { from: '1' },
}

function callIn(person: Person, operation: Operation, ids: Record<string, string> = {}): Promise<Answer> {
  const org = person.org.slice('/app/api/orgs/'.length)
  const body = operation.requestBody ? (BODIES[operation.operationId] ?? {}) : undefined
  const query = operation.operationId === 'endLiveDeployment' ? '?reason=Nobody%20uses%20it.' : ''
  return requestAs(api, person, operation.method, `${pathOf(operation, { ...ids, org })}${query}`, body)
}

test("404 not_found for another organization's object below one's own, on every operation with an id", async () => {
  // A vulnerability is nobody's object: exposure/get.test.ts asks as another organization.
  const withId = operations.filter(({ path }) => /\{(?!vulnerability\})/.test(path.slice(ORGANIZATION.length)))
  assert.ok(withId.length > 10)
  for (const operation of withId) {
    const foreign = await callIn(stranger, operation, idsOf(operation))
    assertError(foreign, 404, 'not_found')
    assert.equal(foreign.text, (await callIn(stranger, operation)).text, operation.path)
    if (operation.method !== 'GET') continue
    const own = await callIn(admin, operation, idsOf(operation))
    const isFound = [200, 409].includes(own.status) || own.body.error?.details.reason !== undefined
    assert.ok(isFound, `${operation.path} does not find its own object: ${own.text}`)
  }
})

test("a list contains only objects of the person's organization", async () => {
  const lists = operations.filter(({ path, responses }) => {
    const isPage = JSON.stringify(responses['200'] ?? {}).includes('"next_cursor"')
    return isPage && !path.slice(ORGANIZATION.length).includes('{')
  })
  assert.ok(lists.length >= 6)
  for (const operation of lists) {
    const own = await callIn(admin, operation)
    assert.ok(own.body.data.length >= 1, `${operation.path} shows nothing to its owner: ${own.text}`)
    const items = new Set(own.body.data.map((item: unknown) => JSON.stringify(item)))
    const foreign = await callIn(stranger, operation)
    assert.equal(foreign.status, 200, operation.path)
    for (const item of foreign.body.data) {
      assert.ok(!items.has(JSON.stringify(item)), `${operation.path} shows ${JSON.stringify(item)}`)
    }
  }
})
