import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { definitionOf, policyInput, verdictsOf } from './support/policies.ts'

const POLICY = definitionOf('name: o\nmode: enforce\nengine: opa\ndecision: a/b\n')

/** Returns the only verdict of a policy whose OPA server answers like this. */
async function onlyVerdict(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const verdicts = await verdictsOf(POLICY, policyInput(), { SHIPLOCK_OPA_URL: `http://127.0.0.1:${port}` })
    assert.equal(verdicts.length, 1)
    return verdicts[0]
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const FAILURES: [what: string, reason: RegExp, listener: RequestListener][] = [
  ['another status than 200', /status 500/, (_request, response) => response.writeHead(500).end('{"result": []}')],
  ['something that is not JSON', /not valid JSON/, (_request, response) => response.end('<html>')],
  ['JSON that is not an object', /undefined/, (_request, response) => response.end('null')],
  ['no result', /undefined/, (_request, response) => response.end('{}')],
  ['a redirect', /could not be reached/, (_request, response) => response.writeHead(302, { location: '/x' }).end()],
  ['a connection that breaks', /could not be reached/, (request) => request.socket.destroy()],
  [
    'an answer that is too large',
    /more than 1048576 bytes/,
    (_request, response) => response.end('x'.repeat(2 ** 20 + 1)),
  ],
  ['no answer', /did not answer within 2000 ms/, () => {}],
  ['half an answer', /did not answer within 2000 ms/, (_request, response) => response.write('{"result"')],
]

for (const [what, reason, listener] of FAILURES) {
  test(`${what} is an error that blocks, with a reason`, async () => {
    const verdict = await onlyVerdict(listener)
    assert.deepEqual([verdict?.status, verdict?.blocking], ['error', true])
    assert.match(verdict?.reason ?? '', reason)
  })
}

test('the input is posted to the path of the decision, without what nobody has looked for', async () => {
  let asked = ''
  let body = ''
  const verdict = await onlyVerdict(async (request, response) => {
    asked = `${request.method} ${request.url} ${request.headers['content-type']}`
    for await (const chunk of request) body += chunk
    response.end('{"result": [{"rule": "r", "status": "pass"}]}')
  })
  assert.equal(asked, 'POST /v1/data/a/b?metrics=true application/json')
  const { findings: _findings, issues: _issues, evidence, ...seen } = policyInput()
  const { input } = JSON.parse(body)
  assert.match(input.evidence.missing, /no security report/)
  assert.deepEqual(input, { ...seen, evidence: { ...evidence, missing: input.evidence.missing } })
  assert.equal(verdict?.status, 'pass')
})

test('without SHIPLOCK_OPA_URL the verdict is an error that names the setting', async () => {
  const [verdict] = await verdictsOf(POLICY, policyInput())
  assert.equal(verdict?.status, 'error')
  assert.match(verdict?.reason ?? '', /SHIPLOCK_OPA_URL/)
})
