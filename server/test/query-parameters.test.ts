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
    const needed = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required)
    const stated = needed.map(({ name }) => `${name}=${'a'.repeat(64)}&`).join('')
    const answer = await api.request(operation.method, `${pathOf(operation)}?${stated}nonsense=1`, { key: caller.key })
    assertInvalid(answer, '/query/nonsense')
  }
})

test('400 for a query parameter of a route whose fields are all in the body', async () => {
  const run = {
    ci_system: 'jenkins',
    external_run_id: '1',
    repository: 'https://github.com/acme/api',
    commit_sha: 'a'.repeat(40),
    pipeline_name: 'build',
  }
  assertInvalid(await api.request('POST', '/v1/ci/runs?dry_run=true', { key: caller.key, body: run }), '/query/dry_run')
})

const ODD_INTEGERS = ['Infinity', '-Infinity', 'NaN', '1e400', '1e1', '0x10', '%201', '1%20', '%2B1', '1.0', '1_0', '']
const ODD_NUMBERS = ['Infinity', 'NaN', '1e400', '1e-46', '1e-1', '0x1', '%200.5', '%2B0.5', '.5', '0.', '']

test('400 for a number that is not written as a plain decimal, on every parameter', async () => {
  const numeric = operations.flatMap((operation) =>
    parametersOf(operation).map(({ name, schema }) => ({ operation, name, type: schema.type })),
  )
  assert.ok(numeric.length > 5)
  for (const { operation, name, type } of numeric) {
    for (const value of type === 'integer' ? ODD_INTEGERS : ODD_NUMBERS) {
      const path = `${pathOf(operation)}?${name}=${value}`
      assertInvalid(await api.request(operation.method, path, { key: caller.key }), `/query/${name}`)
    }
  }
})

function parametersOf({ parameters = [] }: Operation) {
  return parameters.filter(({ in: where, schema }) => where === 'query' && /^(integer|number)$/.test(schema.type ?? ''))
}
