import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { notifyAccessChanged } from '../src/access/api-key.store.ts'
import { updatePlan } from '../src/organizations/organization.store.ts'
import { BUILT_IN_PLANS } from '../src/organizations/plan.ts'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { assertError } from './support/assert-error.ts'
import { callOperation } from './support/call-operation.ts'
import { insertDeployment } from './support/furnish.ts'
import { keyedOperationsOf, type Operation } from './support/openapi.ts'
import { recordChange } from './support/recorded-changes.ts'

let api: TestApi
let directory: string
let operations: Operation[]

/** The built-in plans, and before them one that has API access and nothing else. */
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-plans-'))
  const file = join(directory, 'plans.json')
  const [free, team, ...larger] = BUILT_IN_PLANS
  await writeFile(file, JSON.stringify([free, { ...team, name: 'basic', features: ['api_access'] }, team, ...larger]))
  api = await startTestApi({ env: { SHIPLOCK_PLANS_FILE: file } })
  operations = keyedOperationsOf((await api.request('GET', '/v1/openapi.json')).body)
})
after(async () => {
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})

test('402 plan_required with reason API_ACCESS on every route, on a plan without API access', async () => {
  const { key } = await api.caller({ plan: 'free' })
  for (const operation of operations) {
    const details = assertError(await callOperation(api, operation, { key }), 402, 'plan_required')
    assert.deepEqual(details, { reason: 'API_ACCESS' }, operation.path)
  }
})

test("403 before 402: a key without the route's scope never learns about the plan", async () => {
  const { key } = await api.caller({ plan: 'free', scopes: ['write:compliance-override'] })
  for (const operation of operations) {
    assert.equal((await callOperation(api, operation, { key })).text, '{"message":"Forbidden"}', operation.path)
  }
})

/**
 * The smallest plan of each route that needs more than API access (specification, "Plan gating").
 */
const REQUIRED: [route: RegExp, plan: string][] = [
  [/^\/v1\/(security\/(uploads|streams|sbom$)|components|exposure|sboms)/, 'team'],
  [/^\/v1\/security\/issues/, 'business'],
  [/^\/v1\/provenance\/.*(statement|verification)$/, 'enterprise'],
]
const SIZES = ['basic', 'team', 'business', 'enterprise']

test('402 plan_required with requiredPlan below the smallest plan that has the feature, never from it on', async () => {
  for (const plan of SIZES) {
    const caller = await api.caller({ plan })
    const subjects = await statementSubjects(caller)
    for (const operation of operations) {
      const required = REQUIRED.find(([route]) => route.test(operation.path))?.[1] ?? 'basic'
      const id = subjects.find(([route]) => route.test(operation.path))?.[1]
      const answer = await callOperation(api, operation, { key: caller.key, ...(id && { ids: { id } }) })
      const enough = SIZES.indexOf(plan) >= SIZES.indexOf(required)
      if (enough) assert.notEqual(answer.status, 402, `${operation.path} on ${plan}`)
      else assert.deepEqual(assertError(answer, 402, 'plan_required'), { requiredPlan: required })
    }
  }
})

/** The plan is checked after the object of a statement was found (provenance.md §4). */
async function statementSubjects(caller: Caller): Promise<[route: RegExp, id: string][]> {
  return [
    [/^\/v1\/provenance\/changes\//, (await recordChange(api.services, caller.orgId)).id],
    [/^\/v1\/provenance\/deployments\//, await insertDeployment(api, caller)],
  ]
}

test('a plan that drops API access ends it for a key that was just in use', async () => {
  const { key, slug } = await api.caller({ plan: 'team' })
  assert.equal((await api.request('GET', '/v1/runs', { key })).status, 200)
  await updatePlan(api.services.sql, slug, 'free')
  await notifyAccessChanged(api.services.sql)
  let status = 200
  for (let asked = 0; asked < 1000 && status === 200; asked += 1) {
    status = (await api.request('GET', '/v1/runs', { key })).status
  }
  assert.equal(status, 402)
})
