import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { loginFile } from '../src/connection/stored-logins.ts'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { startServer } from './support/server.ts'
import { shiplockOnTerminal } from './support/terminal.ts'

const { api, caller } = await startServer()
const SOURCE = ['--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]

/** A user without a login. */
function newUser() {
  const env = { XDG_CONFIG_HOME: join(temporaryDirectory(), 'config') }
  return { env, file: join(env.XDG_CONFIG_HOME, 'shiplock/credentials.json') }
}

test('0: a key from standard input is checked and stored for its user only, and other commands use it', async () => {
  const { env, file } = newUser()
  const { code, stdout, stderr } = await shiplock(['login', '--url', `${api.url}/`], { env, input: `${caller.key}\n` })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  assert.equal(stderr, `Logged in to ${api.url}. The key is stored in ${file}.\n`)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(dirname(file)), ['credentials.json'])
  const started = await shiplock(['run', 'start', ...SOURCE, '--json'], { env })
  assert.equal(started.code, 0, started.stderr)
  assert.equal(started.json.credential.name, 'test key')
})

test('0: several servers are kept, the last one is the default, and a mode that was too open is corrected', async () => {
  const { env, file } = newUser()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({
      default: 'https://other.example.com',
      servers: { 'https://other.example.com': { key: 'shl_live_other' } },
    }),
  )
  chmodSync(file, 0o644)
  assert.equal((await shiplock(['login', '--url', api.url], { env, input: caller.key })).code, 0)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    default: api.url,
    servers: { 'https://other.example.com': { key: 'shl_live_other' }, [api.url]: { key: caller.key } },
  })
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('0: a key without the scope to read is accepted', async () => {
  const { key } = await api.caller({ orgId: caller.orgId, scopes: ['write:ci'] })
  assert.equal((await shiplock(['login', '--url', api.url], { env: newUser().env, input: key })).code, 0)
})

test('1: a key that the server rejects is not stored, and is not shown', async () => {
  const { env, file } = newUser()
  const { code, stderr } = await shiplock(['login', '--url', api.url], { env, input: 'shl_live_wrong' })
  assert.equal(code, 1)
  assert.equal(stderr, `shiplock: ${api.url} rejects the key: it is not valid, revoked or expired\n`)
  assert.throws(() => statSync(file), /ENOENT/)
})

test('1: a damaged file is not overwritten', async () => {
  const { env, file } = newUser()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '{"servers": ')
  const { code, stderr } = await shiplock(['login', '--url', api.url], { env, input: caller.key })
  assert.equal(code, 1)
  assert.match(stderr, /credentials\.json is damaged/)
  assert.equal(readFileSync(file, 'utf8'), '{"servers": ')
})

for (const [what, input, message] of [
  ['nothing', '', /Standard input holds no key/],
  ['an empty line', '\n', /Standard input holds no key/],
  ['two words', 'my key', /must not contain spaces/],
] as const) {
  test(`2: ${what} on standard input`, async () => {
    const { code, stderr } = await shiplock(['login', '--url', api.url], { env: newUser().env, input })
    assert.equal(code, 2)
    assert.match(stderr, message)
  })
}

test('2: no server', async () => {
  assert.equal((await shiplock(['login'], { env: newUser().env, input: caller.key })).code, 2)
})

test('the file is in the configuration directory of the system', () => {
  assert.equal(loginFile({ HOME: '/home/ada' }, 'linux'), '/home/ada/.config/shiplock/credentials.json')
  assert.equal(loginFile({ HOME: '/home/ada', XDG_CONFIG_HOME: '/c' }, 'linux'), '/c/shiplock/credentials.json')
  assert.equal(
    loginFile({ HOME: '/Users/ada' }, 'darwin'),
    '/Users/ada/Library/Application Support/shiplock/credentials.json',
  )
  assert.equal(loginFile({ APPDATA: '/Roaming' }, 'win32'), '/Roaming/shiplock/credentials.json')
})

test('on a terminal, the key is asked for and not shown', async () => {
  const { env, file } = newUser()
  const { code, screen } = await shiplockOnTerminal(['login', '--url', api.url], {
    env,
    typed: [{ after: 'API key for', type: `${caller.key}x\u007f\r` }],
  })
  assert.equal(code, 0, screen)
  assert.match(screen, /API key for http:\/\/127\.0\.0\.1:\d+:\r\nLogged in to/)
  assert.ok(!screen.includes(caller.key.slice(0, 12)), screen)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).servers[api.url].key, caller.key)
})

test('130: Ctrl-C instead of a key', async () => {
  const { env } = newUser()
  const { code, screen } = await shiplockOnTerminal(['login', '--url', api.url], {
    env,
    typed: [{ after: 'API key for', type: 'abc\u0003' }],
  })
  assert.equal(code, 130, screen)
})
