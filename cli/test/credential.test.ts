import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shiplock } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'

const RUN = { id: 'run_1', attempt: 1, provider: 'other', repository: 'r', app_url: 'u', status: 'success' }
const api = await startScriptedServer((_received, response) => sendJson(response, 200, { data: RUN }))
const ARGS = [
  'run',
  'finish',
  '--status',
  'success',
  '--external-run-id',
  '1',
  '--repository',
  'github.com/acme/shop',
  '--commit',
  'a'.repeat(40),
]

/** Plays the token endpoint of GitHub Actions. */
async function startGitHub(lifetimeSeconds: number) {
  let made = 0
  const { url, received } = await startScriptedServer((_received, response) => {
    const exp = Math.floor(Date.now() / 1000) + lifetimeSeconds
    const claims = Buffer.from(JSON.stringify({ exp, n: ++made })).toString('base64url')
    sendJson(response, 200, { value: `e30.${claims}.sig` })
  })
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/token?api-version=2.0`, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret' }
  return { env, received }
}

/** The credentials of the requests that a call sent. */
async function credentialsOf(env: Record<string, string>, ...more: string[]): Promise<string[]> {
  const before = api.received.length
  const { code, stderr } = await shiplock([...ARGS, ...more], { env: { SHIPLOCK_URL: `${api.url}/base`, ...env } })
  assert.equal(code, 0, stderr)
  return api.received.slice(before).map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''))
}

test('the order of credentials: the key, the token of a variable, the token of GitHub', async () => {
  const { env } = await startGitHub(300)
  assert.deepEqual(await credentialsOf({ ...env, SHIPLOCK_ID_TOKEN: 'a.b.c', SHIPLOCK_KEY: ' shl_live_1\n' }), [
    'shl_live_1',
    'shl_live_1',
  ])
  assert.deepEqual(await credentialsOf({ ...env, SHIPLOCK_ID_TOKEN: 'a.b.c', SHIPLOCK_KEY: '' }), ['a.b.c', 'a.b.c'])
  assert.match((await credentialsOf(env))[0] ?? '', /^e30\./)
})

test('on GitHub, one token is requested for the audience, and used while it is valid', async () => {
  const { env, received } = await startGitHub(300)
  const [first, second] = await credentialsOf(env)
  assert.equal(first, second)
  assert.equal(received.length, 1)
  assert.equal(received[0]?.path, `/token?api-version=2.0&audience=${encodeURIComponent(api.url)}`)
  assert.equal(received[0]?.headers.authorization, 'Bearer secret')
  await credentialsOf(env, '--audience', 'shop audience')
  assert.match(received[1]?.path ?? '', /audience=shop\+audience$/)
  await credentialsOf({ ...env, SHIPLOCK_AUDIENCE: 'other' })
  assert.match(received[2]?.path ?? '', /audience=other$/)
  await credentialsOf({ ...env, SHIPLOCK_ORGANIZATION: 'acme' })
  assert.equal(received[3]?.path, `/token?api-version=2.0&audience=${encodeURIComponent(`${api.url}/acme`)}`)
  await credentialsOf({ ...env, SHIPLOCK_ORGANIZATION: 'acme', SHIPLOCK_AUDIENCE: 'other' })
  assert.match(received[4]?.path ?? '', /audience=other$/)
})

test('on GitHub, a token that is about to expire is replaced', async () => {
  const { env, received } = await startGitHub(30)
  const [first, second] = await credentialsOf(env)
  assert.notEqual(first, second)
  assert.equal(received.length, 2)
})

test('1: GitHub gives no token', async () => {
  const { url } = await startScriptedServer((_received, response) => sendJson(response, 403, {}))
  const env = { SHIPLOCK_URL: api.url, ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret' }
  const { code, stderr } = await shiplock(ARGS, { env })
  assert.equal(code, 1)
  assert.equal(stderr, 'shiplock: GitHub gives no OIDC token (HTTP status 403)\n')
})

test('on GitHub, a token is requested again after a failure that may pass', async () => {
  let requests = 0
  const { url } = await startScriptedServer((_received, response) => {
    requests++
    if (requests === 1) return sendJson(response, 503, {})
    sendJson(response, 200, { value: 'e30.e30.sig' })
  })
  const github = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret' }
  const { code, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: api.url, ...github } })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^GitHub gives no OIDC token \(HTTP status 503\)\. Retrying in 2 s \(try 2 of 6\)\n/)
})

test('2: a credential that no header can hold is refused without showing it', async () => {
  for (const [name, value] of [
    ['SHIPLOCK_KEY', 'shl_live_1\nshl_live_2'],
    ['SHIPLOCK_KEY', 'shl_live_€'],
    ['SHIPLOCK_ID_TOKEN', 'a b'],
  ] as const) {
    const { code, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: api.url, [name]: value } })
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`^shiplock: ${name} must not contain spaces, line breaks or [^\n]*\n$`))
    assert.ok(!stderr.includes('shl_live'))
  }
})

test('2: a job on GitHub without the permission is told what to do', async () => {
  const { code, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: api.url, GITHUB_ACTIONS: 'true' } })
  assert.equal(code, 2)
  assert.match(stderr, /give the job the permission "id-token: write", or set SHIPLOCK_KEY/)
})
