import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

const PASSWORD = 'a plain but long sentence'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-user-'))
  running = await startProgram(dataDir)
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const user = (...args: string[]) => printedBy(dataDir, ['user', ...args])

function send(path: string, body: object, cookie = ''): Promise<Response> {
  const { url } = running.ready
  const headers = { origin: url, 'x-shiplock-csrf': '1', 'content-type': 'application/json', cookie }
  return fetch(`${url}/app/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

const tokenOf = (link: string) => link.split('#token=')[1]
const statusOf = async (cookie: string) =>
  (await fetch(`${running.ready.url}/app/api/orgs/default/runs`, { headers: { cookie } })).status

async function joinAs(email: string, role: string): Promise<string> {
  const { link } = await user('invite', email, '--org', 'default', '--role', role)
  const response = await send('links/accept', { token: tokenOf(link), name: 'Ada Lovelace', password: PASSWORD })
  assert.equal(response.status, 200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

test('an invited user appears in the list, and is disabled, enabled, given another role and reset', async () => {
  const admin = await joinAs('Admin@Example.com', 'org_admin')
  const cookie = await joinAs('ada@example.com', 'viewer')
  assert.equal(await statusOf(admin), 200)
  const listed = await user('list', '--org', 'default')
  assert.deepEqual(
    listed.map(({ email, memberships }: { email: string; memberships: object[] }) => [email, memberships]),
    [
      ['ada@example.com', [{ organization: 'default', role: 'viewer', disabled: false }]],
      ['admin@example.com', [{ organization: 'default', role: 'org_admin', disabled: false }]],
    ],
  )

  await user('disable', 'ada@example.com', '--org', 'default')
  assert.equal(await statusOf(cookie), 404)
  await user('enable', 'ada@example.com', '--org', 'default')
  assert.equal(await statusOf(cookie), 200)
  await user('disable', 'ada@example.com')
  assert.equal(await statusOf(cookie), 401)
  assert.equal((await send('sign-in/password', { email: 'ada@example.com', password: PASSWORD })).status, 401)
  await user('enable', 'ada@example.com')
  assert.equal(await statusOf(cookie), 401)

  const changed = await user('set-role', 'ada@example.com', '--org', 'default', '--role', 'security')
  assert.equal(changed.role, 'security')
  const { link } = await user('reset', 'ada@example.com')
  assert.equal((await send('links/accept', { token: tokenOf(link), password: 'another long sentence' })).status, 200)
  assert.equal((await send('sign-in/password', { email: 'ada@example.com', password: PASSWORD })).status, 401)
})

test('the only Org admin is neither disabled nor given another role', async () => {
  await assertRefused(dataDir, 1, /keeps at least one active Org admin/, ['user', 'disable', 'admin@example.com'])
  const setRole = ['user', 'set-role', 'admin@example.com', '--org', 'default', '--role', 'viewer']
  await assertRefused(dataDir, 1, /keeps at least one active Org admin/, setRole)
})

test('unknown users, roles and organizations, and what is no email address, are refused in one line', async () => {
  await assertRefused(dataDir, 1, /^The user does not exist/, ['user', 'reset', 'nobody@example.com'])
  await assertRefused(dataDir, 2, /is not an email address/, ['user', 'reset', 'nobody'])
  const invite = ['user', 'invite', 'eve@example.com', '--org', 'default', '--role']
  await assertRefused(dataDir, 2, /The role "root" is neither/, [...invite, 'root'])
  const elsewhere = ['user', 'invite', 'eve@example.com', '--org', 'nowhere', '--role', 'viewer']
  await assertRefused(dataDir, 1, /does not exist/, elsewhere)
})
