import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError, assertInvalid } from '../../support/assert-error.ts'
import { createRun } from '../../support/ci-runs.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

function ask(method: string, path: string): Promise<Answer> {
  return api.request(method, path, { key: caller.key })
}

for (const query of ['stauts=failure', 'Limit=5', 'page=2', '__proto__=1', 'a%2Fb=1', '=']) {
  test(`400 for the unknown query parameter ${query}: a misspelt filter never returns everything`, async () => {
    const name = decodeURIComponent(query.split('=')[0] as string).replace('/', '~1')
    assertInvalid(await ask('GET', `/v1/runs?${query}`), `/query/${name}`)
  })
}

for (const query of ['limit=ten', 'limit=', 'limit=1.5', 'limit=1&limit=2', 'limit=true', 'limit=NaN']) {
  test(`400 at /query/limit for ${query}`, async () => {
    assertInvalid(await ask('GET', `/v1/runs?${query}`), '/query/limit')
  })
}

test('400 for a filter given twice', async () => {
  assertInvalid(await ask('GET', '/v1/runs?status=queued&status=success'), '/query/status')
})

for (const id of ['a b', 'a%2Fb', 'x'.repeat(129), 'run%00', 'r%C3%BCn', '*']) {
  test(`400 at /path/id for the id ${id.slice(0, 10)}`, async () => {
    assertInvalid(await ask('GET', `/v1/runs/${id}`), '/path/id')
  })
}

for (const id of ['x', 'x'.repeat(128), 'a.b_c:d-e']) {
  test(`404 not_found for the well-formed id ${id.slice(0, 10)} of no run`, async () => {
    assert.deepEqual(assertError(await ask('GET', `/v1/runs/${id}`), 404, 'not_found'), {})
  })
}

for (const path of ['/', '/v1', '/v2/runs', '/v1/runs/', '/v1/Runs', '/v1/runs/a/b', '/v1//runs', '/v1/runs/..%2f..']) {
  test(`404 or 400, never a page, for ${path}`, async () => {
    const answer = await ask('GET', path)
    assert.ok(answer.status === 404 || answer.status === 400, `${answer.status}`)
    assertError(answer, answer.status, answer.status === 404 ? 'not_found' : 'invalid_request')
  })
}

test('404 not_found for an unknown path, whatever the method', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    assertError(await ask(method, '/v1/nothing'), 404, 'not_found')
  }
})

for (const path of ['/v1/runs/%zz', '/v1/runs/%c3%28', `/v1/runs/${'x'.repeat(4000)}`]) {
  test(`the error envelope and a request id for the unreadable address ${path.slice(0, 16)}`, async () => {
    const answer = await ask('GET', path)
    assert.ok(answer.status === 400 || answer.status === 404, `${answer.status}`)
    assertError(answer, answer.status, answer.status === 404 ? 'not_found' : 'invalid_request')
    assert.ok(answer.headers.get('x-request-id'))
  })
}

const ALLOWED: [path: string, allow: string][] = [
  ['/v1/ci/runs', 'POST'],
  ['/v1/ci/runs/run_1', 'PATCH'],
  ['/v1/runs', 'GET, HEAD'],
  ['/v1/runs/run_1', 'GET, HEAD'],
  ['/v1/openapi.json', 'GET, HEAD'],
  ['/healthz', 'GET, HEAD'],
]
for (const [path, allow] of ALLOWED) {
  test(`405 method_not_allowed with Allow: ${allow} on ${path}`, async () => {
    for (const method of ['DELETE', 'PUT', 'OPTIONS']) {
      const answer = await ask(method, path)
      assertError(answer, 405, 'method_not_allowed')
      assert.equal(answer.headers.get('allow'), allow)
    }
    if (!allow.includes('GET')) assert.equal((await ask('HEAD', path)).status, 405)
  })
}

test('HEAD answers as GET does, without the body', async () => {
  const { id } = await createRun(api, caller)
  for (const path of ['/v1/runs', `/v1/runs/${id}`, '/v1/runs/none', '/v1/runs?x=1', '/v1/openapi.json', '/readyz']) {
    const [head, get] = [await ask('HEAD', path), await ask('GET', path)]
    assert.deepEqual([head.status, head.text], [get.status, ''], path)
    for (const name of ['content-type', 'content-length']) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${name} of ${path}`)
    }
  }
})

test('health checks and metrics need no key', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics', '/v1/openapi.json', '/docs']) {
    assert.equal((await api.request('GET', path)).status, 200, path)
  }
})
