import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { assertError } from './support/assert-error.ts'
import { callOperation } from './support/call-operation.ts'
import { createRun } from './support/ci-runs.ts'
import { type Operation, operationsOf } from './support/openapi.ts'

let api: TestApi
let operations: Operation[]

before(async () => {
  api = await startTestApi()
  operations = operationsOf((await api.request('GET', '/v1/openapi.json')).body)
})
after(() => api?.close())

type Ids = Record<string, string>

/** Makes what a route with a path parameter names, by the start of the route. */
const MAKERS: [start: string, make: (owner: Caller) => Promise<Ids>][] = [
  ['/v1/ci/runs/', async (owner) => ({ run_id: (await createRun(api, owner)).id })],
  ['/v1/runs/', async (owner) => ({ id: (await createRun(api, owner)).id })],
  ['/v1/security/uploads/', async (owner) => ({ uploadId: await createUpload(owner) })],
]

function makerOf({ path }: Operation) {
  const maker = MAKERS.find(([start]) => path.startsWith(start))?.[1]
  return maker ?? assert.fail(`nothing here makes an object for ${path}: add it to MAKERS`)
}

test("404 not_found for another organization's object, on every route that names one", async () => {
  const [owner, stranger] = [await api.caller(), await api.caller()]
  for (const operation of operations.filter(({ path }) => path.includes('{'))) {
    const ids = await makerOf(operation)(owner)
    const foreign = await callOperation(api, operation, { key: stranger.key, ids })
    const unknown = await callOperation(api, operation, { key: stranger.key })
    assertError(foreign, 404, 'not_found')
    assert.equal(foreign.text, unknown.text, `${operation.path} tells a foreign object from none`)
    const own = await callOperation(api, operation, { key: owner.key, ids })
    assert.notEqual(own.status, 404, `${operation.path} does not find its own object`)
  }
})

test('a list holds nothing of another organization', async () => {
  const [owner, stranger] = [await api.caller(), await api.caller()]
  await createRun(api, owner)
  await createUpload(owner)
  const lists = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'))
  for (const operation of lists) {
    const { status, body } = await callOperation(api, operation, { key: stranger.key })
    assert.deepEqual([status, body.data, body.next_cursor], [200, [], null], operation.path)
  }
})

test('two organizations report the same external run without meeting', async () => {
  const [one, other] = [await api.caller(), await api.caller()]
  const same = { external_run_id: 'shared' }
  assert.notEqual((await createRun(api, one, same)).id, (await createRun(api, other, same)).id)
})

async function createUpload({ key }: Caller): Promise<string> {
  const body = { filename: 'report.sarif', size: 10, sha256: 'a'.repeat(64), repository: 'acme/api' }
  const answer = await api.request('POST', '/v1/security/uploads', { key, body })
  return answer.body.data?.upload.id
}
