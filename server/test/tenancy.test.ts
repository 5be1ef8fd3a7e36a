import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { assertError } from './support/assert-error.ts'
import { callOperation } from './support/call-operation.ts'
import { artifactOf, TESTS } from './support/ci-reports.ts'
import { createRun } from './support/ci-runs.ts'
import { furnish } from './support/furnish.ts'
import { keyedOperationsOf, type Operation } from './support/openapi.ts'

let api: TestApi
let operations: Operation[]
let owner: Caller
let stranger: Caller
let owned: Record<string, string>

before(async () => {
  api = await startTestApi()
  operations = keyedOperationsOf((await api.request('GET', '/v1/openapi.json')).body)
  owner = await api.caller()
  stranger = await api.caller()
  owned = await furnish(api, owner)
})
after(() => api?.close())

/**
 * The owner's ids for the path parameters of a route. Fails for a new kind of object until
 * `furnish` creates one.
 */
function idsOf({ path }: Operation): Record<string, string> {
  const named = [...path.matchAll(/\/\{(\w+)\}/g)].map(({ 1: name = '', index }) => {
    const id = owned[path.slice(0, index)]
    return id === undefined ? assert.fail(`furnish makes nothing for ${path}`) : [name, id]
  })
  return Object.fromEntries(named)
}

/** Bodies of operations that refuse `{}`. They create nothing beyond what `furnish` has created. */
const BODIES: Record<string, unknown> = {
  createCiReport: { job: { name: 'test' } },
  addCiAttestations: { attestations: [TESTS] },
  addCiArtifacts: { artifacts: [artifactOf('file', 'bytes')] },
  completeCiArtifacts: { artifact_ids: ['nobody'] },
  approveDeployment: { reason: 'Whoever finds it may read this.' },
  rejectDeployment: { reason: 'Whoever finds it may read this.' },
  endFindingStream: { reason: 'Whoever finds it may read this.' },
  // The stream itself, which is the first one.
  takeOverFindingStream: { from: '1' },
}

test("404 not_found for another organization's object, on every route with an id", async () => {
  // A vulnerability is nobody's object: exposure/get.test.ts asks as another organization.
  const ofObjects = operations.filter(({ path, operationId }) => path.includes('{') && operationId !== 'getExposure')
  for (const operation of ofObjects) {
    const ids = idsOf(operation)
    const body = BODIES[operation.operationId] ?? {}
    const foreign = await callOperation(api, operation, { key: stranger.key, ids, body })
    const unknown = await callOperation(api, operation, { key: stranger.key, body })
    assertError(foreign, 404, 'not_found')
    assert.equal(foreign.text, unknown.text, `${operation.path} tells a foreign object from none`)
    const own = await callOperation(api, operation, { key: owner.key, ids, body })
    // A 409, or a 404 with a reason, also shows that the object was found.
    const isFound = [200, 409].includes(own.status) || own.body.error?.details.reason !== undefined
    assert.ok(isFound, `${operation.path} does not find its own object: ${own.text}`)
  }
})

test("404 not_found for another organization's object under the caller's own parent object", async () => {
  const other = await api.caller()
  const run_id = (await createRun(api, other)).id
  const nested = operations.filter(({ path }) => /\{.*\{/.test(path))
  assert.ok(nested.length >= 3)
  for (const operation of nested) {
    const ids = { ...idsOf(operation), run_id }
    const body = BODIES[operation.operationId]
    assertError(await callOperation(api, operation, { key: other.key, ids, body }), 404, 'not_found')
  }
})

test("a list contains only objects of the caller's organization", async () => {
  // Every organization has a signing key; signing-keys.test.ts compares them. Documents and what is known of
  // a digest are no lists; export-vex.test.ts, sboms/export.test.ts and artifacts/subjects.test.ts compare them.
  const others = ['listSigningKeys', 'exportVex', 'exportSbom', 'traceArtifact']
  const lists = operations.filter(
    ({ method, path, operationId }) => method === 'GET' && !path.includes('{') && !others.includes(operationId),
  )
  assert.ok(lists.length >= 6)
  for (const operation of lists) {
    const own = await callOperation(api, operation, { key: owner.key })
    assert.equal(own.body.data?.length, 1, `${operation.path} shows nothing to its owner: ${own.text}`)
    const { status, body } = await callOperation(api, operation, { key: stranger.key })
    assert.deepEqual([status, body.data, body.next_cursor], [200, [], null], operation.path)
  }
})

test('two organizations can report the same external run independently', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  const same = { external_run_id: 'shared' }
  assert.notEqual((await createRun(api, one, same)).id, (await createRun(api, other, same)).id)
})
