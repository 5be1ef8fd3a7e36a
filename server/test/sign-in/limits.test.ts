import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createResetLink } from '../../src/access/links/account-links.ts'
import { reserveGuess } from '../../src/access/sign-in/attempt-limit.ts'
import { getKnownSession } from '../../src/access/sign-in/authenticate-by-password.ts'
import type { FoundSession } from '../../src/access/sign-in/session.store.ts'
import { checkProxies } from '../../src/commands/doctor-services.ts'
import { cookieOf, createAccount, PASSWORD, post, signInWith } from '../support/accounts.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { Authenticator } from '../support/authenticator.ts'
import { type Person, pageHeaders, requestAs } from '../support/people.ts'
import { until } from '../support/until.ts'

let api: TestApi

before(async () => {
  api = await startTestApi({ env: { SHIPLOCK_TRUSTED_PROXIES: '127.0.0.1' } })
})
after(() => api?.close())
beforeEach(() => api.services.sql`delete from sign_in_attempts`)

const OTHER_PASSWORD = 'a different long password'

type From = { server?: TestApi; cookie?: string }

/** A sign-in from an address, as a trusted proxy states it. */
function signInFrom(address: string, body: Record<string, unknown>, { server = api, cookie }: From = {}) {
  const headers = { ...pageHeaders(server, cookie), 'x-forwarded-for': address }
  return server.request('POST', '/app/api/sign-in/password', { headers, body })
}

const rightOf = ({ email }: Pick<Person, 'email'>) => ({ email, password: PASSWORD })

async function fail(times: number, { email }: Pick<Person, 'email'>, address = '192.0.2.1'): Promise<void> {
  for (let attempt = 0; attempt < times; attempt += 1) {
    assertError(await signInFrom(address, { email, password: `guess ${attempt}` }), 401, 'sign_in_failed')
  }
}

/** Counts wrong passwords from everywhere, without the time that their hashes take. */
async function spend(times: number, { email }: Pick<Person, 'email'>, known: string | null = null): Promise<void> {
  for (let attempt = 0; attempt < times; attempt += 1) {
    api.clock.advance(known === null ? 0 : 300_000)
    const guesser = { address: `10.0.${attempt >> 8}.${attempt % 256}`, known }
    await reserveGuess(api.services, { kind: 'password', account: email }, guesser)
  }
}

function assertExhausted(answer: Answer): void {
  const { limit, reason, resetAt } = assertError(answer, 429, 'rate_limited')
  assert.deepEqual([limit, reason, resetAt], [100, 'WRONG_IN_A_ROW', null])
}

/** The cookie by which a browser is known after its session has ended. */
function browserOf(answer: Answer): string {
  const cookie = answer.headers.getSetCookie().find((text) => text.startsWith('shiplock-browser='))
  assert.match(cookie ?? '', /^shiplock-browser=[A-Za-z0-9]{40}; .*HttpOnly.*SameSite=Lax/)
  return (cookie as string).split(';')[0] as string
}

async function registerPasskey(person: Person): Promise<Authenticator> {
  const authenticator = new Authenticator(api.url)
  const { body } = await post(api, 'account/passkeys/options', {}, person.cookie)
  const credential = authenticator.create(body.data)
  assert.equal((await requestAs(api, person, 'POST', '/app/api/account/passkeys', { credential })).status, 201)
  return authenticator
}

async function signInByPasskey(authenticator: Authenticator): Promise<Answer> {
  const { body } = await post(api, 'sign-in/passkey/options', {})
  return post(api, 'sign-in/passkey', { credential: authenticator.get(body.data) })
}

test('after five failures for an account, a network waits 1, 2, 4 seconds, and others do not', async () => {
  const ada = await createAccount(api)
  await fail(5, ada)
  for (const pause of [1, 2, 4]) {
    const early = await signInFrom('192.0.2.1', rightOf(ada))
    assert.equal(assertError(early, 429, 'rate_limited').limit, 5)
    assert.equal(early.headers.get('retry-after'), String(pause))
    api.clock.advance(pause * 1000)
    await fail(1, ada)
  }
  assert.equal((await signInFrom('192.0.2.2', rightOf(ada))).status, 200)
  assertError(await signInFrom('192.0.2.1', rightOf(ada)), 429, 'rate_limited')
  api.clock.advance(8000)
  assert.equal((await signInFrom('192.0.2.1', rightOf(ada))).status, 200)
  await fail(5, ada)
})

test('pauses grow up to five minutes', async () => {
  const guess = [
    { kind: 'password', account: 'a@example.com' },
    { address: '192.0.2.1', known: null },
  ] as const
  for (let attempt = 0; attempt < 20; attempt += 1) {
    api.clock.advance(300_000)
    await reserveGuess(api.services, ...guess)
  }
  api.clock.advance(299_999)
  await assert.rejects(reserveGuess(api.services, ...guess), { code: 'rate_limited', retryAfterSeconds: 1 })
})

test('an account that does not exist has the same pauses and the same limit', async () => {
  const [known, unknown] = [await createAccount(api), { email: 'nobody@example.com' }]
  const answers: string[][] = []
  for (const { email } of [known, unknown]) {
    await fail(5, { email })
    const paused = await signInFrom('192.0.2.1', { email, password: 'x' })
    await spend(95, { email })
    const exhausted = await signInFrom('192.0.2.9', { email, password: 'x' })
    answers.push([paused.text, exhausted.text])
  }
  assert.deepEqual(answers[0], answers[1])
})

test('100 wrong passwords of one account hold up nobody else, not even in the same network', async () => {
  const [ada, bob] = [await createAccount(api), await createAccount(api)]
  for (let round = 0; round < 20; round += 1) {
    await fail(1, ada)
    api.clock.advance(300_000)
  }
  await spend(80, ada)
  assert.equal((await signInFrom('192.0.2.1', rightOf(bob))).status, 200)
})

test('guess 101 of an account in a row is refused, even with the right password and a month later', async () => {
  const ada = await createAccount(api)
  await spend(100, ada)
  assertExhausted(await signInFrom('192.0.2.7', rightOf(ada)))
  api.clock.advance(29 * 24 * 3_600_000)
  assertExhausted(await signInFrom('192.0.2.8', rightOf(ada)))
})

test('an exhausted account signs in by passkey, which lets the password count again', async () => {
  const ada = await createAccount(api)
  const authenticator = await registerPasskey(ada)
  await spend(100, ada)
  assertExhausted(await signInFrom('192.0.2.7', rightOf(ada)))
  assert.equal((await signInByPasskey(authenticator)).status, 200)
  assert.equal((await signInFrom('192.0.2.7', rightOf(ada))).status, 200)
})

test('a known browser signs in while others fail, also when its session has ended, and no other account does', async () => {
  const [ada, bob] = [await createAccount(api), await createAccount(api)]
  const cookie = browserOf(await signInFrom('192.0.2.1', rightOf(ada)))
  await fail(5, ada)
  await spend(95, ada)
  await spend(100, bob)
  assertExhausted(await signInFrom('192.0.2.1', rightOf(bob), { cookie }))
  assert.equal((await signInFrom('192.0.2.1', rightOf(ada), { cookie })).status, 200)
})

test('a known browser has pauses and a count of its own', async () => {
  const ada = await createAccount(api)
  const cookie = browserOf(await signInFrom('192.0.2.1', rightOf(ada)))
  const wrong = { email: ada.email, password: 'x' }
  for (let attempt = 0; attempt < 5; attempt += 1)
    assertError(await signInFrom(`192.0.2.${attempt}`, wrong, { cookie }), 401, 'sign_in_failed')
  assertError(await signInFrom('192.0.2.200', wrong, { cookie }), 429, 'rate_limited')
  await spendKnown(95, ada)
  api.clock.advance(300_000)
  assertExhausted(await signInFrom('192.0.2.1', rightOf(ada), { cookie }))
  assert.equal((await signInFrom('192.0.2.1', rightOf(ada))).status, 200)
})

/** Counts wrong passwords in the browser that the account knows. */
async function spendKnown(times: number, ada: Person): Promise<void> {
  const [row] = await api.services.sql<{ hex: string }[]>`
    select encode(token_sha256, 'hex') as hex from known_browsers where user_id = ${ada.userId}`
  await spend(times, ada, `browser ${row?.hex}`)
}

test('a reset lets everybody guess again, and no browser is known', async () => {
  const ada = await createAccount(api)
  const cookie = browserOf(await signInFrom('192.0.2.1', rightOf(ada)))
  await spend(100, ada)
  const { link } = await createResetLink(api.services, ada.email)
  const token = link.split('token=')[1]
  assert.equal((await post(api, 'links/accept', { token, password: OTHER_PASSWORD })).status, 200)
  assert.equal((await signInFrom('192.0.2.1', { email: ada.email, password: OTHER_PASSWORD })).status, 200)
  await spend(100, ada)
  assertExhausted(await signInFrom('192.0.2.1', { email: ada.email, password: OTHER_PASSWORD }, { cookie }))
})

test('of 200 parallel guesses in two processes from everywhere, 100 are verified', async () => {
  const ada = await createAccount(api)
  const beside = await startTestApi({ beside: api, env: { SHIPLOCK_TRUSTED_PROXIES: '127.0.0.1' } })
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => {
      const guess = { email: ada.email, password: `guess ${at}` }
      return signInFrom(`192.0.2.${at}`, guess, { server: at % 2 ? api : beside })
    }),
  )
  await beside.close()
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 401).length, 100)
  assert.equal(statuses.filter((status) => status === 429).length, 100)
})

test('of 50 parallel guesses of one network, five are verified, and an IPv6 network of 64 bits is one', async () => {
  const ada = await createAccount(api)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      signInFrom(`2001:db8:1:2::${at + 1}`, { email: ada.email, password: `guess ${at}` }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  assert.equal((await signInFrom('2001:db8:1:3::1', rightOf(ada))).status, 200)
})

test('a network that floods the sign-in is refused, and others are served meanwhile', async () => {
  const bob = await createAccount(api)
  const flood = Array.from({ length: 160 }, (_, at) =>
    signInFrom('192.0.2.1', { email: `user-${at}@example.com`, password: 'x' }),
  )
  assert.equal((await signInFrom('192.0.2.2', rightOf(bob))).status, 200)
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  assert.ok(statuses.filter((status) => status === 401).length >= 100, statuses.join())
  assert.ok(statuses.filter((status) => status === 429).length > 0, statuses.join())
})

test('guesses in a stolen session are limited: confirmation and change of the password', async () => {
  const ada = await createAccount(api)
  for (const attempt of [0, 1, 2, 3, 4]) {
    const change = { current_password: 'x', new_password: OTHER_PASSWORD }
    const answer =
      attempt % 2
        ? await post(api, 'session/confirm', { password: 'x' }, ada.cookie)
        : await requestAs(api, ada, 'PUT', '/app/api/account/password', change)
    assertError(answer, 401, 'sign_in_failed')
  }
  assertError(await post(api, 'session/confirm', { password: PASSWORD }, ada.cookie), 429, 'rate_limited')
})

test('a session confirms with the password while others fail, unless the provider of one organization started it', async () => {
  const ada = await createAccount(api)
  await spend(100, ada)
  assert.equal((await post(api, 'session/confirm', { password: PASSWORD }, ada.cookie)).status, 200)
  const session = { id: 'a', org_id: null } as FoundSession
  assert.equal(getKnownSession(session), 'session a')
  assert.equal(getKnownSession({ ...session, org_id: 'b' }), null)
})

test('passkeys are not limited by how many challenges others of the network ask for', async () => {
  const authenticator = await registerPasskey(await createAccount(api))
  for (let round = 0; round < 7; round += 1)
    await Promise.all(Array.from({ length: 100 }, () => post(api, 'sign-in/passkey/options', {})))
  assert.equal((await signInByPasskey(authenticator)).status, 200)
  const [stored] = await api.services
    .sql`select count(*)::int as challenges from passkey_challenges where purpose = 'sign_in'`
  assert.ok(stored?.challenges < 10)
})

test('people who sign in at the same time are all signed in', async () => {
  const people: Person[] = []
  for (let count = 0; count < 30; count += 1) people.push(await createAccount(api))
  const answers = await Promise.all(people.map((person) => signInWith(api, rightOf(person))))
  assert.ok(
    answers.every(({ status }) => status === 200),
    answers.map(({ status }) => status).join(),
  )
})

test('an address that an untrusted client states does not count, and doctor says that it arrives', async () => {
  const direct = await startTestApi()
  const detail = async () => (await checkProxies(direct.services)).detail
  assert.match(await detail(), /no request came through a proxy/)
  const ada = await createAccount(direct)
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const guess = { email: ada.email, password: `guess ${attempt}` }
    assertError(await signInFrom(`192.0.2.${attempt}`, guess, { server: direct }), 401, 'sign_in_failed')
  }
  assertError(await signInFrom('192.0.2.9', rightOf(ada), { server: direct }), 429, 'rate_limited')
  await until('the proxy is stored', 5000, async () => (await detail()).includes('X-Forwarded-For come from 127.0.0.1'))
  assert.match((await checkProxies(api.services)).detail, /is stated/)
  await direct.close()
})

test('counts of an earlier version lock nobody out', async () => {
  const ada = await createAccount(api)
  const { sql, clock } = api.services
  for (const key of [`password:${hash('sha256', ada.email)}`, 'address:192.0.2.1', `code:${ada.userId}`])
    await sql`
      insert into sign_in_attempts (key, window_started_at, attempts)
      values (${key}, ${clock.now()}, 1000)`
  assert.equal((await signInFrom('192.0.2.1', rightOf(ada))).status, 200)
})

test('the table of counts contains no address', async () => {
  await fail(1, { email: 'nobody@example.com' })
  const rows = await api.services.sql<{ key: string }[]>`select key from sign_in_attempts`
  assert.ok(rows.length > 0)
  for (const { key } of rows) assert.match(key, /^(pause|count):[A-Za-z0-9_-]{43}$/)
})

test('a session of one browser ends, and its cookie of the browser is renewed at the next sign-in', async () => {
  const ada = await createAccount(api)
  const first = await signInWith(api, rightOf(ada))
  const cookie = browserOf(first)
  assert.equal(browserOf(await signInWith(api, rightOf(ada), `${cookieOf(first)}; ${cookie}`)), cookie)
  const [stored] = await api.services.sql`
    select count(*)::int as browsers from known_browsers where user_id = ${ada.userId}`
  assert.equal(stored?.browsers, 1)
})
