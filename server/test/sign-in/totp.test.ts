import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { TOTP } from 'otpauth'
import { cookieOf, createAccount, PASSWORD, post, signInWith } from '../support/accounts.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { type Person, pageHeaders, requestAs } from '../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const STEP_MS = 30_000

function codeOf(secret: string, offsetMs = 0): string {
  return TOTP.generate({ secret: secretOf(secret), timestamp: api.clock.now().getTime() + offsetMs })
}

function secretOf(base32: string) {
  return new TOTP({ secret: base32 }).secret
}

/** Turns TOTP on for a person. The next code is of the next time step. */
async function enroll(person: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
  const started = await post(api, 'account/totp', {}, person.cookie)
  assert.equal(started.status, 200, started.text)
  const { secret } = started.body.data
  const confirmed = await post(api, 'account/totp/confirm', { code: codeOf(secret) }, person.cookie)
  assert.equal(confirmed.status, 200, confirmed.text)
  api.clock.advance(STEP_MS)
  return { secret, recoveryCodes: confirmed.body.data.recovery_codes }
}

function signInWithCode(person: Person, codes: Record<string, string>) {
  return signInWith(api, { email: person.email, password: PASSWORD, ...codes })
}

test('enrolment shows an address for QR codes and returns ten recovery codes', async () => {
  const ada = await createAccount(api)
  const { uri, secret } = (await post(api, 'account/totp', {}, ada.cookie)).body.data
  const address = new URL(uri)
  assert.equal(decodeURIComponent(address.pathname), `/Shiplock:${ada.email}`)
  assert.deepEqual(
    ['secret', 'issuer', 'algorithm', 'digits', 'period'].map((name) => address.searchParams.get(name)),
    [secret, 'Shiplock', 'SHA1', '6', '30'],
  )
  assert.equal((await signInWithCode(ada, {})).status, 200, 'TOTP is off until it is confirmed')
  const { body } = await post(api, 'account/totp/confirm', { code: codeOf(secret) }, ada.cookie)
  const codes: string[] = body.data.recovery_codes
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.match(code, /^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/)
})

test('with TOTP, a password alone gets 401 totp_required, and only with the right password', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  assertError(await signInWithCode(ada, {}), 401, 'totp_required')
  const wrong = await signInWith(api, { email: ada.email, password: 'wrong', totp_code: codeOf(secret) })
  assertError(wrong, 401, 'sign_in_failed')
  assertError(await signInWithCode(ada, { totp_code: '000000' }), 401, 'invalid_code')
  const answer = await signInWithCode(ada, { totp_code: codeOf(secret) })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.body.data.sign_in_methods, {
    password: true,
    totp: true,
    recovery_codes_left: 10,
    passkeys: 0,
  })
})

test('a code is accepted once, and no code of an earlier time step after it (TOTP replay)', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  const [earlier, present] = [codeOf(secret, -STEP_MS), codeOf(secret)]
  assert.equal((await signInWithCode(ada, { totp_code: present })).status, 200)
  assertError(await signInWithCode(ada, { totp_code: present }), 401, 'invalid_code')
  assertError(await signInWithCode(ada, { totp_code: earlier }), 401, 'invalid_code')
  assert.equal((await signInWithCode(ada, { totp_code: codeOf(secret, STEP_MS) })).status, 200)
})

test('of parallel sign-ins with one code, one succeeds, in two processes together', async () => {
  const ada = await createAccount(api)
  const { secret, recoveryCodes } = await enroll(ada)
  const beside = await startTestApi({ beside: api })
  for (const codes of [{ totp_code: codeOf(secret) }, { recovery_code: recoveryCodes[0] as string }]) {
    const body = { email: ada.email, password: PASSWORD, ...codes }
    const answers = await Promise.all([api, beside, api, beside].map((server) => signInWith(server, body)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401])
  }
  await beside.close()
})

test('the code that confirmed the enrolment does not sign in', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  assertError(await signInWithCode(ada, { totp_code: codeOf(secret, -STEP_MS) }), 401, 'invalid_code')
})

test('a code of two time steps ago, or of another secret, is refused', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  api.clock.advance(10 * STEP_MS)
  for (const totp_code of [
    codeOf(secret, -2 * STEP_MS),
    codeOf(secret, 2 * STEP_MS),
    'abcdef',
    '1',
    codeOf('A'.repeat(32)),
  ]) {
    assertError(await signInWithCode(ada, { totp_code }), 401, 'invalid_code')
  }
})

test('a recovery code replaces the app once, however it is written', async () => {
  const ada = await createAccount(api)
  const { recoveryCodes } = await enroll(ada)
  const recovery_code = ` ${recoveryCodes[3]?.toUpperCase().replaceAll('-', ' ')} `
  const answer = await signInWithCode(ada, { recovery_code })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data.sign_in_methods.recovery_codes_left, 9)
  assertError(await signInWithCode(ada, { recovery_code }), 401, 'invalid_code')
})

test("a recovery code of another user is refused, and is still the other user's", async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const { recoveryCodes } = await enroll(ada)
  await enroll(eve)
  const recovery_code = recoveryCodes[0] as string
  assertError(await signInWithCode(eve, { recovery_code }), 401, 'invalid_code')
  assert.equal((await signInWithCode(ada, { recovery_code })).status, 200)
})

test('new recovery codes replace the ones before', async () => {
  const ada = await createAccount(api)
  const { recoveryCodes } = await enroll(ada)
  const { body } = await post(api, 'account/recovery-codes', {}, ada.cookie)
  assertError(await signInWithCode(ada, { recovery_code: recoveryCodes[0] as string }), 401, 'invalid_code')
  assert.equal((await signInWithCode(ada, { recovery_code: body.data.recovery_codes[0] })).status, 200)
})

test('TOTP that is turned off is not asked for, and its codes and other sessions end', async () => {
  const ada = await createAccount(api)
  const { secret, recoveryCodes } = await enroll(ada)
  const other = cookieOf(await signInWithCode(ada, { totp_code: codeOf(secret) }))
  assert.equal((await requestAs(api, ada, 'DELETE', '/app/api/account/totp')).status, 200)
  const { status } = await api.request('GET', '/app/api/session', { headers: pageHeaders(api, other) })
  assert.equal(status, 401)
  const answer = await signInWithCode(ada, {})
  assert.equal(answer.body.data.sign_in_methods.recovery_codes_left, 0)
  const again = await enroll(ada)
  const recovery_code = recoveryCodes[0] as string
  assertError(await signInWithCode(ada, { recovery_code }), 401, 'invalid_code')
  assert.notEqual(again.secret, secret)
})

test('409 for TOTP that is on, that was not started, and that is off', async () => {
  const ada = await createAccount(api)
  assertError(await post(api, 'account/totp/confirm', { code: '123456' }, ada.cookie), 409, 'totp_not_started')
  assertError(await requestAs(api, ada, 'DELETE', '/app/api/account/totp'), 409, 'totp_not_enabled')
  assertError(await post(api, 'account/recovery-codes', {}, ada.cookie), 409, 'totp_not_enabled')
  await enroll(ada)
  assertError(await post(api, 'account/totp', {}, ada.cookie), 409, 'totp_enabled')
})

test('a second enrolment replaces the first one until it is confirmed', async () => {
  const ada = await createAccount(api)
  const first = (await post(api, 'account/totp', {}, ada.cookie)).body.data.secret
  const second = (await post(api, 'account/totp', {}, ada.cookie)).body.data.secret
  assertError(await post(api, 'account/totp/confirm', { code: codeOf(first) }, ada.cookie), 401, 'invalid_code')
  assert.equal((await post(api, 'account/totp/confirm', { code: codeOf(second) }, ada.cookie)).status, 200)
})

test('the database contains neither the secret nor a recovery code', async () => {
  const ada = await createAccount(api)
  const { secret, recoveryCodes } = await enroll(ada)
  const { sql } = api.services
  const rows = await sql`
    select to_json(totp)::text as totp, (select json_agg(code)::text from recovery_codes code) as codes
    from user_totp totp`
  const stored = JSON.stringify(rows)
  for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))])
    assert.ok(!stored.includes(text))
  assert.ok(stored.includes('v1.'))
})

test('to confirm who they are, users with TOTP send a code, too', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  assertError(await post(api, 'session/confirm', { password: PASSWORD }, ada.cookie), 401, 'totp_required')
  const answer = await post(api, 'session/confirm', { password: PASSWORD, totp_code: codeOf(secret) }, ada.cookie)
  assert.equal(answer.status, 200, answer.text)
})

test('429 after five wrong codes, even for the right one, until a pause has passed', async () => {
  const ada = await createAccount(api)
  const { secret } = await enroll(ada)
  for (let attempt = 0; attempt < 5; attempt += 1)
    assertError(await signInWithCode(ada, { totp_code: '000000' }), 401, 'invalid_code')
  const limited = await signInWithCode(ada, { totp_code: codeOf(secret) })
  assert.equal(assertError(limited, 429, 'rate_limited').limit, 5)
  assert.equal(limited.headers.get('retry-after'), '1')
  api.clock.advance(60_000)
  assert.equal((await signInWithCode(ada, { totp_code: codeOf(secret) })).status, 200)
})

test('429 for guesses of the code that confirms an enrolment', async () => {
  const ada = await createAccount(api)
  await post(api, 'account/totp', {}, ada.cookie)
  const codes = [
    '000000',
    '111111',
    '222222',
    '333333',
    '444444',
    '555555',
    '666666',
    '777777',
    '888888',
    '999999',
    '1',
  ]
  const answers = []
  for (const code of codes) answers.push(await post(api, 'account/totp/confirm', { code }, ada.cookie))
  assert.equal(answers.at(-1)?.status, 429)
})

test('a code with characters that are no ASCII digits is wrong', async () => {
  const ada = await createAccount(api)
  await enroll(ada)
  for (const totp_code of ['１２３４５６', '12345é', '１２３', '+12345', '1e5'])
    assertError(await signInWithCode(ada, { totp_code }), 401, 'invalid_code')
})
