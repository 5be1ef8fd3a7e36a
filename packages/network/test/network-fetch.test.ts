import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { networkFetch } from '../src/network-fetch.ts'
import { AUTHORITY, startCompanyProxy } from './support/company-proxy.ts'

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => response.end(`${request.method} ${request.url} ${Buffer.concat(chunks)}`))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const [open, locked] = [await startCompanyProxy(target), await startCompanyProxy(target, 'ada:s3cret')]
after(() => {
  for (const each of [open, locked, server]) each.close()
})

const VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'SHIPLOCK_CA_FILE']
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name]
})

const SERVER = 'https://shiplock.example.test'

test('https goes through the proxy, which reads it, if its authority is trusted', async () => {
  Object.assign(process.env, { HTTPS_PROXY: open.url, SHIPLOCK_CA_FILE: AUTHORITY })
  const response = await networkFetch(`${SERVER}/x?y=1`, { method: 'POST', body: '{}' })
  assert.deepEqual([response.status, await response.text()], [200, 'POST /x?y=1 {}'])
  assert.equal(open.asked.at(-1), 'CONNECT shiplock.example.test:443')
})

test('http is forwarded, and a stream is sent', async () => {
  Object.assign(process.env, { HTTP_PROXY: locked.url })
  const body = new Blob(['abc']).stream()
  const init = { method: 'PUT', body, headers: { 'content-length': '3' }, duplex: 'half' }
  const response = await networkFetch('http://shiplock.example.test/x', init as RequestInit)
  assert.equal(await response.text(), 'PUT /x abc')
  assert.equal(locked.asked.at(-1), 'PUT http://shiplock.example.test/x')
})

/** What the error says about a request. */
async function failureOf(address: string, env: Record<string, string>): Promise<string> {
  Object.assign(process.env, env)
  const error = await networkFetch(address).then(
    () => assert.fail('there was an answer'),
    (reason: Error) => reason,
  )
  assert.ok(!error.message.includes('s3cret'), error.message)
  return error.message
}

test('the error names the issuer of a certificate, and what to set', async () => {
  assert.equal(
    await failureOf(SERVER, { HTTPS_PROXY: open.url }),
    `its certificate, issued by "Inspection CA, Example Company", is not trusted through the proxy ${open.url} (UNABLE_TO_VERIFY_LEAF_SIGNATURE); if it is of your own authority, name its file in NODE_EXTRA_CA_CERTS or SHIPLOCK_CA_FILE`,
  )
})

for (const address of [SERVER, 'http://shiplock.example.test']) {
  test(`407 for ${new URL(address).protocol}: the error names the proxy and the variable, and no password`, async () => {
    const bare = locked.url.replace(/\/\/.*@/, '//')
    const variable = address.startsWith('https') ? 'HTTPS_PROXY' : 'HTTP_PROXY'
    assert.equal(
      await failureOf(address, { [variable]: bare }),
      `the proxy ${bare} of ${variable} asks for a user and a password (407): set ${variable} to http://USER:PASSWORD@HOST:PORT`,
    )
    assert.match(
      await failureOf(address, { [variable]: locked.url.replace('ada', 'bob') }),
      /^the proxy http:\/\/127\.0\.0\.1:\d+ of HTTPS?_PROXY does not accept its user and password \(407\)/,
    )
  })
}

test('a proxy that does not connect or does not exist is named', async () => {
  assert.match(
    await failureOf('https://forbidden.example.test', { HTTPS_PROXY: open.url }),
    /^the proxy \S+ of HTTPS_PROXY does not connect to forbidden\.example\.test: it answered 403; NO_PROXY lists/,
  )
  assert.match(
    await failureOf(SERVER, { HTTPS_PROXY: 'http://ada:s3cret@127.0.0.1:1' }),
    /^the proxy http:\/\/127\.0\.0\.1:1 of HTTPS_PROXY cannot be reached: ECONNREFUSED/,
  )
})

test('a file of authorities that cannot be used is named', async () => {
  assert.equal(
    await failureOf(SERVER, { SHIPLOCK_CA_FILE: '/none.pem' }),
    'SHIPLOCK_CA_FILE names /none.pem, which cannot be used: ENOENT',
  )
  const path = join(tmpdir(), `no-certificates-${process.pid}.pem`)
  writeFileSync(path, 'nothing')
  assert.match(await failureOf(SERVER, { SHIPLOCK_CA_FILE: path }), /it has no certificate in the PEM form$/)
})
