import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accountHost, TOKEN } from '../../../support/account-host.ts'
import { startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

const host = accountHost()
let api: TestApi
let admin: Person

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
  admin = await createPerson(api, await api.caller())
  const account = { id: '42', login: 'acme/platform', type: 'group' }
  host.accounts.set(account.login, { id: '42', account, repositories: 'all', suspended: false })
})
after(() => api?.close())

const connect = (body: object, who = admin) =>
  requestAs(api, who, 'POST', '/code-hosts', { provider: 'gitlab', account: 'acme/platform', ...body })
const token = { credentials: { token: TOKEN.token } }

test('an account is connected with a token, which no answer and no entry of the audit log contains', async () => {
  const made = await connect(token)
  assert.equal(made.status, 201, made.text)
  const { account, provider, host: name, status } = made.body.data
  assert.deepEqual([account.login, provider, name, status], ['acme/platform', 'gitlab', 'gitlab.com', 'active'])
  const again = await connect(token)
  assert.deepEqual([again.status, again.body.data.id], [200, made.body.data.id])
  const log = await requestAs(api, admin, 'GET', '/audit-log')
  assert.deepEqual(log.body.data.map(({ action }: Json) => action).sort(), ['connection.create', 'connection.renew'])
  for (const { text } of [made, again, log, await requestAs(api, admin, 'GET', '/code-hosts')])
    assert.ok(!text.includes(TOKEN.token))
})

test('a person of another organization cannot have the account too, whoever shares the server', async () => {
  const other = await createPerson(api, await api.caller())
  assertError(await connect(token, other), 409, 'account_connected')
})

test('each wrong combination of fields names the field', async () => {
  const client = { client_id: 'a', client_secret: 'b' }
  for (const [body, path] of [
    [{}, '/body/credentials'],
    [{ credentials: {} }, '/body/credentials'],
    [{ credentials: { ...client, token: 'c' } }, '/body/credentials/token'],
    [{ credentials: { client_id: 'a' } }, '/body/credentials/client_secret'],
    [{ credentials: { client_secret: 'a' } }, '/body/credentials/client_id'],
    [{ credentials: { token: '' } }, '/body/credentials/token'],
    [{ credentials: { token: 'a', password: 'b' } }, '/body/credentials/password'],
    [{ ...token, account: undefined }, '/body/account'],
    [{ ...token, installation_id: '1' }, '/body/installation_id'],
    [{ provider: 'github', installation_id: '1' }, '/body/account'],
    [{ provider: 'github', account: undefined }, '/body/installation_id'],
    [{ ...token, provider: 'github', account: undefined, installation_id: '1' }, '/body/credentials'],
  ] as const)
    assertInvalid(await connect(body), path)
})

test('400 for a token that the host refuses, 404 for an account that it does not show, 400 for another form', async () => {
  assertError(await connect({ credentials: { token: 'wrong' } }), 400, 'invalid_credentials')
  assertError(await connect({ ...token, account: 'nobody' }), 404, 'not_found')
  for (const account of ['../x', 'a//b', '/a', 'a/', 'https://evil.example/a', 'a\nb', "a'b"])
    assertError(await connect({ ...token, account }), 400, 'invalid_request')
})
