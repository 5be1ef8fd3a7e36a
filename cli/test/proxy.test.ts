import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AUTHORITY, startCompanyProxy } from '../../packages/network/test/support/company-proxy.ts'
import { shiplock } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'

const RUN = { id: 'run_1', attempt: 1, provider: 'other', repository: 'r', app_url: 'u' }
const ARGS = ['run', 'start', '--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]
const api = await startScriptedServer((_received, response) => sendJson(response, 201, { data: RUN }))
const proxy = await startCompanyProxy(api.url, 'ada:s3cret')
after(() => proxy.close())

const ENV = { SHIPLOCK_URL: 'https://shiplock.example.test', SHIPLOCK_KEY: 'x', HTTPS_PROXY: proxy.url }

for (const variable of ['NODE_EXTRA_CA_CERTS', 'SHIPLOCK_CA_FILE']) {
  test(`a command reaches its server through a proxy that reads TLS, with its authority in ${variable}`, async () => {
    const { code, stdout, stderr } = await shiplock(ARGS, { env: { ...ENV, [variable]: AUTHORITY } })
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'run_1\n')
    assert.equal(proxy.asked.at(-1), 'CONNECT shiplock.example.test:443')
  })
}

test('1, at once: without the authority, the error names the issuer and what to set, and no password', async () => {
  const { code, stderr } = await shiplock(ARGS, { env: ENV })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^shiplock: The server at https:\/\/shiplock\.example\.test cannot be reached \(its certificate, issued by "Inspection CA, Example Company", is not trusted .* NODE_EXTRA_CA_CERTS or SHIPLOCK_CA_FILE\)\n$/,
  )
  assert.ok(!stderr.includes('s3cret'))
})

test('1, at once: a proxy that refuses the password is named without it', async () => {
  const env = { ...ENV, HTTPS_PROXY: proxy.url.replace('ada', 'bob'), SHIPLOCK_CA_FILE: AUTHORITY }
  const { code, stderr } = await shiplock(ARGS, { env })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /\(the proxy http:\/\/127\.0\.0\.1:\d+ of HTTPS_PROXY does not accept its user and password \(407\)/,
  )
  assert.ok(!stderr.includes('s3cret'))
})

test('a token of GitHub is requested through the proxy, too', async () => {
  const { SHIPLOCK_KEY: _, ...without } = ENV
  const env = {
    ...without,
    SHIPLOCK_CA_FILE: AUTHORITY,
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://tokens.example.test/token',
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x',
  }
  const { stderr } = await shiplock(ARGS, { env })
  assert.match(stderr, /GitHub gives no OIDC token \(HTTP status 201\)/)
  assert.equal(proxy.asked.at(-1), 'CONNECT tokens.example.test:443')
})
