import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promises as dns } from 'node:dns'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { after, before, beforeEach, mock, test } from 'node:test'
import { promisify } from 'node:util'
import { AUTHORITY, startCompanyProxy } from '../../../packages/network/test/support/company-proxy.ts'
import { settleAllowedHosts } from '../../src/platform/outbound/allowed-hosts.ts'
import { GuardedFetch } from '../../src/platform/outbound/guarded-fetch.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import { createTrust, githubClaims, type Issuer, startIssuer } from '../support/oidc-issuer.ts'
import { CLIENT, open } from '../support/openid-provider.ts'
import { createPerson, type Person, requestAs } from '../support/people.ts'

// A tenant plays the port scanner: private addresses as issuers and as identity providers.

const TEXT = 'cannot be read; private addresses need SHIPLOCK_ALLOWED_NETWORKS'

let api: TestApi
let caller: Caller
let admin: Person
let issuer: Issuer
let listener: Server
let port: number
let connections = 0

/** What the names of the tests stand for. `rebind.example` is another one at each look. */
const names: Record<string, () => string[]> = {
  localhost: () => ['127.0.0.1', '::1'],
  'inside.example': () => ['127.0.0.1'],
  'mixed.example': () => ['93.184.215.14', '10.0.0.1'],
  'mapped.example': () => ['::ffff:127.0.0.1'],
}
const resolve = async (hostname: string) => {
  const found = names[hostname]?.()
  if (!found) throw new Error(`${hostname} is unknown`)
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

before(async () => {
  listener = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  port = (listener.address() as { port: number }).port
  issuer = await startIssuer()
  api = await startTestApi({ env: { SHIPLOCK_ALLOWED_NETWORKS: '' }, resolve })
})
beforeEach(async () => {
  caller = await api.caller()
  admin = await createPerson(api, caller)
  connections = 0
  issuer.requests.length = 0
  await api.services.sql`delete from allowed_hosts`
  await api.services.sql`update oidc_trusts set revoked_at = now() where revoked_at is null`
})
after(async () => {
  await api?.close()
  await issuer?.close()
  listener?.close()
})

const asIssuer = (address: string) => ({ name: 'shop', issuer: address, provider: 'github', scopes: ['write:ci'] })
const trust = (address: string) =>
  requestAs(api, admin, 'POST', '/oidc-trusts', { ...asIssuer(address), conditions: { repository: 'acme/shop' } })
const configure = (address: string) =>
  requestAs(api, admin, 'PUT', '/single-sign-on', { ...CLIENT, issuer: address, creates_accounts: false })
const startSignIn = () => open(api, `/app/api/sso/start?org=${caller.slug}`)

let tokens = 0
/** Sends a token that the trust lets in. */
async function useToken({ body: { data: trusted } }: Answer) {
  tokens += 1
  const token = await issuer.sign(
    githubClaims(api, { iss: trusted.issuer, aud: trusted.audience, jti: `outside-${tokens}` }),
  )
  const run = newRun({ repository: 'github.com/acme/shop' })
  const { status } = await api.request('POST', '/v1/ci/runs', { key: token, body: run })
  const { details } = (await requestAs(api, admin, 'POST', '/oidc-trusts/test', { token })).body.data
  return { status, details }
}

const HOSTS = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', 'localhost', '10.0.0.1', '169.254.169.254']
const NAMES = [
  'inside.example',
  'mixed.example',
  'mapped.example',
  '168.63.129.16',
  '[64:ff9b::a00:1]',
  '[2002:7f00:1::]',
]

for (const host of [...HOSTS, ...NAMES])
  test(`an issuer and a provider at https://${host} are not asked, and nobody learns what is there`, async () => {
    const closed = 1
    for (const at of [port, Number(new URL(issuer.url).port), closed]) {
      const address = `https://${host}:${at}`
      const trusted = await trust(address)
      assert.equal(trusted.status, 201, trusted.text)
      assert.deepEqual(await useToken(trusted), { status: 401, details: `The keys of the issuer ${TEXT}.` })
      assert.equal((await configure(address)).status, 200)
      const { status, body } = await startSignIn()
      assert.equal(status, 502)
      assert.equal(
        body.error.message,
        'The identity provider cannot be read; private addresses need SHIPLOCK_ALLOWED_NETWORKS.',
      )
    }
    assert.deepEqual([connections, issuer.requests], [0, []])
  })

test('400 for an http issuer or provider outside the allowed networks, public or not', async () => {
  for (const address of [issuer.url, 'http://inside.example', 'http://unknown.example', 'http://93.184.215.14']) {
    assert.equal((await trust(address)).status, 400, address)
    assert.equal((await configure(address)).status, 400, address)
  }
  assert.deepEqual(issuer.requests, [])
})

test('400 for an issuer that is none of Bitbucket or Azure, except in the allowed networks', async () => {
  const conditions = { repositoryUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}' }
  const bitbucket = (address: string) =>
    requestAs(api, admin, 'POST', '/oidc-trusts', { ...asIssuer(address), provider: 'bitbucket', conditions })
  const own = 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc'
  assert.equal((await bitbucket(own)).status, 201)
  assert.equal((await bitbucket('https://inside.example')).status, 400)
  await api.services
    .sql`insert into allowed_hosts (origin, networks) values ('https://inside.example', '{127.0.0.0/8}')`
  assert.equal((await bitbucket('https://inside.example')).status, 201)
})

/** The fetcher with the settings of an operator who allows 127.0.0.2 only. */
const fetcher = (find: (hostname: string) => string[], options = {}) =>
  new GuardedFetch({
    allowedNetworks: ['127.0.0.2'],
    baseUrl: 'https://shiplock.example',
    listStoredNetworks: async () => [],
    log: api.services.log,
    resolve: async (hostname) => find(hostname).map((address) => ({ address, family: 4 })),
    ...options,
  })
const LIMITS = { timeoutMs: 5000, bytesMax: 1000 }

test('the connection goes to what was looked up, whatever the name stands for later', async () => {
  const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')).listen(
    port,
    '127.0.0.2',
  )
  await once(other, 'listening')
  const answers = ['127.0.0.2', '127.0.0.1', '127.0.0.1']
  const rebinding = fetcher((hostname) => (hostname === 'shiplock.example' ? [] : [answers.shift() ?? '']))
  const response = await rebinding.fetch(`http://rebind.example:${port}/`, {}, LIMITS)
  assert.deepEqual([await response.text(), answers.length, connections], ['ok', 2, 0])
  await assert.rejects(rebinding.fetch(`http://rebind.example:${port}/`, {}, LIMITS), { message: TEXT })
  assert.equal(connections, 0)
  other.close()
})

test('a name of a tenant takes no thread of the process, and one of the hosts file works and is checked', async () => {
  const asked: string[] = []
  const lookup = mock.method(dns, 'lookup', async (hostname: string) => {
    asked.push(hostname)
    return [{ address: '127.0.0.1', family: 4 }]
  })
  const missing = Object.assign(new Error('no data'), { code: 'ENODATA' })
  const v4 = mock.method(dns.Resolver.prototype, 'resolve4', async () => ['127.0.0.2'])
  const v6 = mock.method(dns.Resolver.prototype, 'resolve6', () => Promise.reject(missing))
  const [narrow, wide] = ['127.0.0.2', '127.0.0.0/8'].map((network) =>
    fetcher(() => [], { resolve: undefined, allowedNetworks: [network] }),
  )
  assert.equal(await narrow?.isInside('https://tenant.example'), true)
  assert.deepEqual(asked, [])
  assert.equal(await narrow?.isInside('https://localhost'), false)
  assert.equal(await wide?.isInside('https://localhost'), true)
  assert.deepEqual(asked, ['localhost', 'localhost'])
  for (const method of [lookup, v4, v6]) method.mock.restore()
})

test('while our own addresses are unknown, only allowed networks are asked, and what was found is kept', async () => {
  let isDown = true
  const own = fetcher((hostname) => {
    if (hostname !== 'shiplock.example') return ['203.0.114.7']
    if (isDown) throw Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })
    return ['203.0.114.8']
  })
  assert.equal(await own.listMissingNetworks('https://there.example'), null)
  isDown = false
  assert.deepEqual(await own.listMissingNetworks('https://there.example'), [])
  isDown = true
  assert.deepEqual(await own.listMissingNetworks('https://there.example'), [])
})

test('a redirect is an answer, and is not followed', async () => {
  const other = createServer((socket) =>
    socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${port}/\r\n\r\n`),
  ).listen(0, '127.0.0.2')
  await once(other, 'listening')
  const { port: at } = other.address() as { port: number }
  const response = await fetcher(() => ['127.0.0.2']).fetch(`http://there.example:${at}/`, {}, LIMITS)
  assert.deepEqual([response.status, connections], [302, 0])
  other.close()
})

test('a name with our own address is refused, and so is an answer that is too long or too slow', async () => {
  const own = fetcher(() => ['203.0.114.7'])
  await assert.rejects(own.fetch('https://elsewhere.example/', {}, LIMITS), { message: TEXT })
  for (const answer of [
    `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2000)}`,
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx',
    '',
  ]) {
    const other = createServer((socket) => socket.on('error', () => {}).write(answer || ' ')).listen(0, '127.0.0.2')
    await once(other, 'listening')
    const { port: at } = other.address() as { port: number }
    const asked = fetcher(() => ['127.0.0.2']).fetch(`http://there.example:${at}/`, {}, { ...LIMITS, timeoutMs: 300 })
    await assert.rejects(asked, { message: TEXT })
    other.close()
  }
})

test('inside the allowed networks an issuer and a provider work as before', async () => {
  const beside = await startTestApi({ beside: api, resolve, env: { SHIPLOCK_ALLOWED_NETWORKS: '127.0.0.0/8' } })
  try {
    const send = (method: string, path: string, body: unknown) => requestAs(beside, admin, method, path, body)
    const created = await send('POST', '/oidc-trusts', {
      ...asIssuer(issuer.url),
      conditions: { repository: 'acme/shop' },
    })
    assert.equal(created.status, 201, created.text)
    const token = await issuer.sign(githubClaims(beside, { aud: created.body.data.audience }))
    const run = newRun({ repository: 'github.com/acme/shop' })
    assert.equal((await beside.request('POST', '/v1/ci/runs', { key: token, body: run })).status, 201)
  } finally {
    await beside.close()
  }
})

test('a private host of a trust of the command line is allowed, within its network and on its port only', async () => {
  await createTrust(api, caller.orgId, { issuer: `https://inside.example:${port}` })
  const hosts = await api.services.sql<
    { origin: string; networks: string[] }[]
  >`select origin, networks from allowed_hosts`
  assert.deepEqual(
    hosts.map((host) => ({ ...host })),
    [{ origin: `https://inside.example:${port}`, networks: ['127.0.0.0/8'] }],
  )
  const ask = (address: string) => api.services.outbound.fetch(address, {}, LIMITS)
  await assert.rejects(ask(`https://inside.example:${port}/keys`), { message: TEXT })
  assert.equal(connections, 1, 'it was asked, and speaks no TLS')
  await assert.rejects(ask(`https://inside.example:${port + 1}/`), { message: TEXT })
  await assert.rejects(ask(`https://localhost:${port}/`), { message: TEXT })
  names['inside.example'] = () => ['10.0.0.1']
  const moved = ask(`https://inside.example:${port}/`)
  names['inside.example'] = () => ['127.0.0.1']
  await assert.rejects(moved, { message: TEXT })
  assert.equal(connections, 1)
})

test('behind a proxy of the environment the proxy connects, and the addresses of the name are checked', async () => {
  const asked: (string | undefined)[] = []
  const proxy = createProxy().on('connect', ({ url }, socket) => {
    asked.push(url)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port: at } = proxy.address() as { port: number }
  const env = { HTTPS_PROXY: `http://127.0.0.1:${at}` }
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', BEHIND_PROXY], { env })
  assert.deepEqual(asked, ['public.example:443'])
  proxy.close()
})

const BEHIND_PROXY = `
  import { GuardedFetch } from '${new URL('../../src/platform/outbound/guarded-fetch.ts', import.meta.url)}'
  const fetcher = new GuardedFetch({
    allowedNetworks: [],
    baseUrl: 'https://203.0.114.7',
    listStoredNetworks: async () => [],
    log: { warn() {} },
    resolve: async (name) => [{ address: name === 'public.example' ? '93.184.215.14' : '10.0.0.1', family: 4 }],
  })
  for (const name of ['public.example', 'private.example'])
    await fetcher.fetch('https://' + name + '/', {}, { timeoutMs: 5000, bytesMax: 1000 }).catch(() => {})`

test('issuers and code hosts are read through a proxy that reads TLS, if its authority is trusted', async (t) => {
  const target = createProxy((request, response) => void response.end(`${request.method} ${request.url}`))
  await once(target.listen(0, '127.0.0.1'), 'listening')
  t.after(() => target.close())
  const proxy = await startCompanyProxy(`http://127.0.0.1:${(target.address() as AddressInfo).port}`, 'ada:s3cret')
  t.after(() => proxy.close())
  const env = { HTTPS_PROXY: proxy.url, SHIPLOCK_CA_FILE: AUTHORITY }
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', THROUGH_PROXY], { env })
  assert.equal((await run).stdout, 'GET /keys\nGET /api\n')
  assert.deepEqual(proxy.asked, ['CONNECT keys.example.test:443', 'CONNECT api.example.test:443'])
})

const THROUGH_PROXY = `
  import { fetchOutside, GuardedFetch } from '${new URL('../../src/platform/outbound/guarded-fetch.ts', import.meta.url)}'
  const fetcher = new GuardedFetch({
    allowedNetworks: [],
    baseUrl: 'https://203.0.114.7',
    listStoredNetworks: async () => [],
    log: { warn(fields) { console.log(fields.err.message) } },
    resolve: async () => [{ address: '93.184.215.14', family: 4 }],
  })
  const limits = { timeoutMs: 5000, bytesMax: 1000 }
  const read = await fetcher.fetch('https://keys.example.test/keys', {}, limits).catch(() => null)
  console.log(await read?.text())
  console.log(await (await fetchOutside('https://api.example.test/api', { redirect: 'manual' })).text())`

const MIGRATION = readFileSync(new URL('../../migrations/0007_outside.sql', import.meta.url), 'utf8')

test('the upgrade keeps the private hosts that are in use, and none that only somebody has tried', async () => {
  const { sql } = api.services
  await sql`update oidc_trusts set revoked_at = now()`
  await sql`delete from single_sign_on`
  names['known.example'] = () => ['10.1.2.3', '10.9.9.9']
  names['public.example'] = () => ['93.184.215.14']
  for (const address of [
    'https://known.example',
    'https://public.example',
    'https://gone.example:8443/x',
    'https://10.0.0.7',
  ])
    assert.equal((await trust(address)).status, 201)
  await sql`update oidc_trusts set last_used_at = now() where issuer <> 'https://10.0.0.7' and revoked_at is null`
  await configure('https://[::1]:8443')
  await sql`
    insert into sso_identities (id, org_id, issuer, subject, user_id, created_at)
    values (gen_random_uuid(), ${caller.orgId}, 'https://[::1]:8443', 'x', ${admin.userId}, now())`
  await sql.unsafe(/^insert into allowed_hosts[\s\S]*?;/m.exec(MIGRATION)?.[0] ?? assert.fail())
  await Promise.all([settleAllowedHosts(api.services), settleAllowedHosts(api.services)])
  const kept = await sql<{ origin: string; networks: string[] | null }[]>`
    select origin, networks
    from allowed_hosts
    order by origin`
  assert.deepEqual(
    kept.map(({ origin, networks }) => [origin, networks]),
    [
      ['https://[::1]:8443', ['::/96']],
      ['https://gone.example:8443', null],
      ['https://known.example', ['10.0.0.0/8']],
    ],
  )
  assert.equal(await api.services.outbound.isInside('https://gone.example:8443'), false)
})
