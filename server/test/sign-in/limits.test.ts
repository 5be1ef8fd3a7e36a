import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { getAddressLimit, reserveAttempt } from '../../src/access/sign-in/attempt-limit.ts'
import { createAccount, PASSWORD, post, signInWith } from '../support/accounts.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { type Person, pageHeaders, requestAs } from '../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi({ env: { SHIPLOCK_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => api?.close())
beforeEach(() => api.services.sql`delete from sign_in_attempts`)

const WINDOW_MS = 15 * 60_000

/** A sign-in from an address, as a trusted proxy states it. */
function signInFrom(address: string, body: Record<string, unknown>, server = api) {
  const headers = { ...pageHeaders(server), 'x-forwarded-for': address }
  return server.request('POST', '/app/api/sign-in/password', { headers, body })
}

async function fail(times: number, { email }: Pick<Person, 'email'>, address = '192.0.2.1'): Promise<void> {
  for (let attempt = 0; attempt < times; attempt += 1) {
    assertError(await signInFrom(address, { email, password: `guess ${attempt}` }), 401, 'sign_in_failed')
  }
}

/** Counts failed attempts of an address without the time that their hashes take. */
async function spend(times: number, address: string, { services } = api): Promise<void> {
  for (let attempt = 0; attempt < times; attempt += 1) await reserveAttempt(services, getAddressLimit(address))
}

test('429 after ten failed attempts for an account, from every address, until 15 minutes have passed', async () => {
  const ada = await createAccount(api)
  await fail(10, ada)
  const right = { email: ada.email, password: PASSWORD }
  api.clock.advance(60_000)
  const limited = await signInFrom('198.51.100.7', right)
  assert.deepEqual(assertError(limited, 429, 'rate_limited').limit, 10)
  assert.equal(limited.headers.get('retry-after'), '840')
  api.clock.advance(WINDOW_MS - 60_000)
  assert.equal((await signInFrom('198.51.100.7', right)).status, 200)
})

test('the limit of an account that does not exist is the same', async () => {
  const ada = await createAccount(api)
  const [known, unknown] = [ada, { email: 'nobody@example.com' }]
  await fail(10, known)
  await fail(10, unknown)
  const [one, other] = [known, unknown].map(({ email }) => signInFrom('192.0.2.1', { email, password: PASSWORD }))
  assert.equal((await one)?.text, (await other)?.text)
  assertError(await signInFrom('192.0.2.1', { email: unknown.email, password: 'x' }), 429, 'rate_limited')
})

test('a limited account does not limit others, and a success starts its count again', async () => {
  const [ada, bob] = [await createAccount(api), await createAccount(api)]
  await fail(10, ada)
  await fail(9, bob)
  assert.equal((await signInFrom('192.0.2.1', { email: bob.email, password: PASSWORD })).status, 200)
  await fail(9, bob)
  assert.equal((await signInFrom('192.0.2.1', { email: bob.email, password: PASSWORD })).status, 200)
})

test('429 after a hundred failed attempts from an address, whichever accounts they are for', async () => {
  const ada = await createAccount(api)
  await spend(92, '192.0.2.1')
  for (let account = 0; account < 4; account += 1) await fail(2, { email: `user-${account}@example.com` })
  const right = { email: ada.email, password: PASSWORD }
  const limited = await signInFrom('192.0.2.1', right)
  assert.equal(assertError(limited, 429, 'rate_limited').limit, 100)
  assert.equal((await signInFrom('192.0.2.2', right)).status, 200)
  api.clock.advance(WINDOW_MS)
  assert.equal((await signInFrom('192.0.2.1', right)).status, 200)
})

test('successful sign-ins do not count for an address', async () => {
  const ada = await createAccount(api)
  await spend(98, '192.0.2.1')
  for (let round = 0; round < 4; round += 1) {
    assert.equal((await signInFrom('192.0.2.1', { email: ada.email, password: PASSWORD })).status, 200)
  }
  await fail(2, { email: 'nobody@example.com' })
  assertError(await signInFrom('192.0.2.1', { email: ada.email, password: PASSWORD }), 429, 'rate_limited')
})

test('of 200 parallel guesses in two processes, ten are verified', async () => {
  const ada = await createAccount(api)
  const beside = await startTestApi({ beside: api, env: { SHIPLOCK_TRUSTED_PROXIES: '127.0.0.1' } })
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => {
      const guess = { email: ada.email, password: `guess ${at}` }
      return signInFrom(`192.0.2.${at}`, guess, at % 2 ? api : beside)
    }),
  )
  await beside.close()
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 401).length, 10)
  assert.equal(statuses.filter((status) => status === 429).length, 190)
})

test('of 10,000 guesses, ten an account and a quarter of an hour are verified, and memory does not grow', async () => {
  const ada = await createAccount(api)
  const before = process.memoryUsage.rss()
  let verified = 0
  for (let round = 0; round < 100; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        signInFrom(`10.${round}.0.${at}`, { email: ada.email, password: `guess ${round} ${at}` }),
      ),
    )
    verified += answers.filter(({ status }) => status === 401).length
    assert.ok(answers.every(({ status }) => status === 401 || status === 429))
  }
  assert.equal(verified, 10)
  assert.ok(process.memoryUsage.rss() - before < 300 * 2 ** 20)
})

test('guesses in a stolen session are limited: confirmation and change of the password', async () => {
  const ada = await createAccount(api)
  for (let attempt = 0; attempt < 5; attempt += 1) {
    assertError(await post(api, 'session/confirm', { password: 'x' }, ada.cookie), 401, 'sign_in_failed')
    const change = { current_password: 'x', new_password: 'a different long password' }
    assertError(await requestAs(api, ada, 'PUT', '/app/api/account/password', change), 401, 'sign_in_failed')
  }
  assertError(await post(api, 'session/confirm', { password: PASSWORD }, ada.cookie), 429, 'rate_limited')
})

test('people who sign in at the same time are all signed in', async () => {
  const people: Person[] = []
  for (let count = 0; count < 30; count += 1) people.push(await createAccount(api))
  const answers = await Promise.all(people.map(({ email }) => signInWith(api, { email, password: PASSWORD })))
  assert.ok(
    answers.every(({ status }) => status === 200),
    answers.map(({ status }) => status).join(),
  )
})

test('an address that an untrusted client states does not count', async () => {
  const direct = await startTestApi()
  const ada = await createAccount(direct)
  await spend(98, '127.0.0.1', direct)
  const statuses = []
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const guess = { email: `user-${attempt}@example.com`, password: 'x' }
    statuses.push((await signInFrom(`192.0.2.${attempt}`, guess, direct)).status)
  }
  assert.deepEqual(statuses, [401, 401, 429])
  assert.equal((await signInWith(direct, { email: ada.email, password: PASSWORD })).status, 429)
  await direct.close()
})

test('all addresses of an IPv6 network of 64 bits count together', () => {
  const keyOf = (address: string) => getAddressLimit(address).key
  assert.equal(keyOf('2001:db8:1:2:3:4:5:6'), 'address:2001:db8:1:2::/64')
  assert.equal(keyOf('2001:db8:1:2::1'), keyOf('2001:0db8:0001:0002:ffff::'))
  assert.equal(keyOf('2001:db8::1'), 'address:2001:db8:0:0::/64')
  assert.notEqual(keyOf('2001:db8:1:3::1'), keyOf('2001:db8:1:2::1'))
  assert.equal(keyOf('::1'), 'address:0:0:0:0::/64')
  assert.equal(keyOf('::ffff:192.0.2.1'), 'address:192.0.2.1')
  assert.equal(keyOf('fe80::1%eth0'), 'address:fe80:0:0:0::/64')
  assert.equal(keyOf('192.0.2.1'), 'address:192.0.2.1')
})
