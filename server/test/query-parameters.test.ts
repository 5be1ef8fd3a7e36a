import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from './support/api.ts'
import { assertInvalid } from './support/assert-error.ts'
import { pathOf } from './support/call-operation.ts'
import { keyedOperationsOf, type Operation } from './support/openapi.ts'

let api: TestApi
let operations: Operation[]
let caller: Caller

before(async () => {
  api = await startTestApi()
  operations = keyedOperationsOf((await api.request('GET', '/v1/openapi.json')).body)
  caller = await api.caller()
})
after(() => api?.close())

test('400 for a parameter that a route does not know, on every route: a misspelt one is never ignored', async () => {
  const withoutBody = operations.filter(({ requestBody }) => requestBody === undefined)
  assert.ok(withoutBody.length > 10)
  for (const operation of withoutBody) {
    const answer = await api.request(operation.method, `${pathOf(operation)}?nonsense=1`, { key: caller.key })
    assertInvalid(answer, '/query/nonsense')
  }
})

test('400 for a parameter of a route that takes everything in its body', async () => {
  const run = {
    ci_system: 'jenkins',
    external_run_id: '1',
    repository: 'https://github.com/acme/api',
    commit_sha: 'a'.repeat(40),
    pipeline_name: 'build',
  }
  assertInvalid(await api.request('POST', '/v1/ci/runs?dry_run=true', { key: caller.key, body: run }), '/query/dry_run')
})
