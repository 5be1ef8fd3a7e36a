import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isOutdated, matchPassword } from '../../src/access/sign-in/password.ts'
import { cookieOf, createAccount, PASSWORD, signInWith } from '../support/accounts.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'
import { type Person, pageHeaders, requestAs } from '../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const PATH = '/app/api/account/password'
const NEW_PASSWORD = 'a different long password'

function change(person: Person, body: Record<string, unknown>) {
  return requestAs(api, person, 'PUT', PATH, body)
}

test('a password starts a session whose cookie is accepted', async () => {
  const ada = await createAccount(api)
  const answer = await signInWith(api, { email: ` ${ada.email.toUpperCase()} `, password: PASSWORD })
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.headers.get('set-cookie') ?? '', /^shiplock=shl_session_\w+; .*HttpOnly.*SameSite=Lax/)
  const { body } = await api.request('GET', '/app/api/session', { headers: pageHeaders(api, cookieOf(answer)) })
  assert.deepEqual(body, answer.body)
  const { user, session, organizations, sign_in_methods } = body.data
  assert.deepEqual(user, { id: ada.userId, email: ada.email, name: ada.name })
  assert.deepEqual([session.method, session.fresh], ['password', true])
  assert.deepEqual(sign_in_methods, { password: true, totp: false, recovery_codes_left: 0, passkeys: 0 })
  assert.deepEqual(organizations[0].role, { id: 'org_admin', name: 'Org admin', built_in: true })
  assert.equal(organizations[0].permissions.length, 10)
})

for (const baseUrl of ['https://shiplock.example', 'http://shiplock.example'])
  test(`with the base URL ${baseUrl}, the cookie is __Host-shiplock with Secure`, () => assertSecureCookie(baseUrl))

async function assertSecureCookie(baseUrl: string): Promise<void> {
  const beside = await startTestApi({ beside: api, env: { SHIPLOCK_BASE_URL: baseUrl } })
  const ada = await createAccount(api)
  const headers = { origin: baseUrl, 'x-shiplock-csrf': '1' }
  const answer = await beside.request('POST', '/app/api/sign-in/password', {
    headers,
    body: { email: ada.email, password: PASSWORD },
  })
  await beside.close()
  assert.match(answer.headers.get('set-cookie') ?? '', /^__Host-shiplock=\w+; (?=.*Path=\/)(?=.*HttpOnly)(?=.*Secure)/)
  assert.doesNotMatch(answer.headers.get('set-cookie') ?? '', /Domain/i)
}

test('an unknown account, a wrong password, a disabled user and one without a password get the same answer', async () => {
  const [known, disabled, without] = [await createAccount(api), await createAccount(api), await createAccount(api)]
  await api.services.sql`update users set disabled_at = ${api.clock.now()} where id = ${disabled.userId}`
  await api.services.sql`delete from user_passwords where user_id = ${without.userId}`
  const answers = await Promise.all([
    signInWith(api, { email: known.email, password: 'a wrong password' }),
    signInWith(api, { email: disabled.email, password: PASSWORD }),
    signInWith(api, { email: without.email, password: PASSWORD }),
    signInWith(api, { email: 'nobody@example.com', password: PASSWORD }),
    signInWith(api, { email: 'not an address', password: PASSWORD }),
  ])
  for (const answer of answers) {
    assertError(answer, 401, 'sign_in_failed')
    assert.equal(answer.text, answers[0]?.text)
    assert.equal(answer.headers.get('set-cookie'), null)
  }
})

test('a sign-in takes the same work whether the account exists or not', async () => {
  // Other work of the machine lengthens some of the sign-ins, but seldom all of five series.
  const series: string[] = []
  for (let at = 0; at < 5; at += 1) {
    const ada = await createAccount(api)
    const known = { email: ada.email, times: [] as number[] }
    const unknown = { email: `nobody-${at}@example.com`, times: [] as number[] }
    for (let round = 0; round < 8; round += 1)
      for (const { email, times } of [known, unknown]) {
        const start = performance.now()
        await signInWith(api, { email, password: 'a wrong password' })
        times.push(performance.now() - start)
      }
    const [shortest, other] = [Math.min(...known.times), Math.min(...unknown.times)]
    if (other > shortest / 2 && shortest > other / 2) return
    series.push(`${shortest} ms and ${other} ms`)
  }
  assert.fail(series.join(', '))
})

test('the stored hash is argon2id with the parameters of OWASP, and an older one is renewed at the next sign-in', async () => {
  const { sql } = api.services
  const ada = await createAccount(api)
  // "correct horse battery staple" with m=8, t=1, p=1, computed with argon2-cffi 25.1.0.
  const old = '$argon2id$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$XdTJKPvVpEdCNu922dgwQXj+XfOITS04PpG3cDMn5sE'
  assert.ok(isOutdated(old))
  await sql`update user_passwords set password_hash = ${old} where user_id = ${ada.userId}`
  assert.equal((await signInWith(api, { email: ada.email, password: PASSWORD })).status, 200)
  const [row] = await sql`select password_hash from user_passwords where user_id = ${ada.userId}`
  assert.match(row?.password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.ok(await matchPassword(row?.password_hash, PASSWORD))
  assert.equal((await signInWith(api, { email: ada.email, password: PASSWORD })).status, 200)
})

test('a password is the same in every Unicode form, and spaces at its ends count', async () => {
  const ada = await createAccount(api)
  const composed = 'caf\u00e9 au lait, s\u2019il vous pla\u00eet '
  assert.equal((await change(ada, { current_password: PASSWORD, new_password: composed })).status, 200)
  const decomposed = composed.normalize('NFD')
  assert.equal((await signInWith(api, { email: ada.email, password: decomposed })).status, 200)
  assertError(await signInWith(api, { email: ada.email, password: decomposed.trim() }), 401, 'sign_in_failed')
})

test('a changed password ends all other sessions, and the session that changed it gets a new token', async () => {
  const ada = await createAccount(api)
  const other = cookieOf(await signInWith(api, { email: ada.email, password: PASSWORD }))
  const answer = await change(ada, { current_password: PASSWORD, new_password: NEW_PASSWORD })
  assert.equal(answer.status, 200, answer.text)
  const statuses = await Promise.all(
    [ada.cookie, other, cookieOf(answer)].map(async (cookie) => {
      const { status } = await api.request('GET', '/app/api/session', { headers: pageHeaders(api, cookie) })
      return status
    }),
  )
  assert.deepEqual(statuses, [401, 401, 200])
  assertError(await signInWith(api, { email: ada.email, password: PASSWORD }), 401, 'sign_in_failed')
  assert.equal((await signInWith(api, { email: ada.email, password: NEW_PASSWORD })).status, 200)
})

test('401 sign_in_failed without the present password, which a user without one does not need', async () => {
  const ada = await createAccount(api)
  assertError(await change(ada, { new_password: NEW_PASSWORD }), 401, 'sign_in_failed')
  assertError(await change(ada, { current_password: 'x', new_password: NEW_PASSWORD }), 401, 'sign_in_failed')
  await api.services.sql`delete from user_passwords where user_id = ${ada.userId}`
  assert.equal((await change(ada, { new_password: NEW_PASSWORD })).status, 200)
})

test('of parallel changes of the password by one session, one succeeds', async () => {
  const ada = await createAccount(api)
  const bodies = ['first', 'second', 'third'].map((word) => ({
    current_password: PASSWORD,
    new_password: `${word} long password`,
  }))
  const answers = await Promise.all(bodies.map((body) => change(ada, body)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401])
  const winner = bodies[answers.findIndex(({ status }) => status === 200)]
  assert.equal((await signInWith(api, { email: ada.email, password: winner?.new_password })).status, 200)
})

test('400 for a new password that is too short or too long, and 400 weak_password for one that is easy to guess', async () => {
  const ada = await createAccount(api, 'Augusta Ada King')
  for (const new_password of ['eleven char', 'x'.repeat(201)]) {
    assertInvalid(await change(ada, { current_password: PASSWORD, new_password }), '/body/new_password')
  }
  for (const new_password of [
    ada.email,
    ada.email.toUpperCase(),
    'Augusta Ada King',
    'augusta-ada-king',
    'password1234',
    'Password123!',
    'passwordpassword',
    'P@ssw0rd2024!',
    '123456789012',
    '098765432109',
    'abcdefghijkl',
    'qwertyuiop123',
    'aaaaaaaaaaaa',
    '121212121212',
    'iloveyou2024!',
    'administrator',
    'shiplockshiplock',
  ]) {
    const answer = await change(ada, { current_password: PASSWORD, new_password })
    assert.equal(answer.body.error?.code, 'weak_password', new_password)
  }
})

test('long passwords of all characters are accepted', async () => {
  const ada = await createAccount(api)
  let current_password = PASSWORD
  for (const new_password of [
    '🐎🔋🖇️'.repeat(40),
    'ein Pferd, eine Batterie',
    '7391 0264 8851',
    `${'x1'.repeat(99)}yz`,
  ]) {
    const answer = await change(ada, { current_password, new_password })
    assert.equal(answer.status, 200, `${new_password}: ${answer.text}`)
    ada.cookie = cookieOf(answer)
    current_password = new_password
  }
})

test('403 cross_site_request for a sign-in that another site sends (login CSRF)', async () => {
  const ada = await createAccount(api)
  const body = { email: ada.email, password: PASSWORD }
  for (const headers of [{}, { 'x-shiplock-csrf': '1', origin: 'https://evil.example' }]) {
    assertError(await api.request('POST', '/app/api/sign-in/password', { headers, body }), 403, 'cross_site_request')
  }
})

test('400 for unknown fields and a missing password, and 401 for one of 1,000 characters', async () => {
  const ada = await createAccount(api)
  assertInvalid(await signInWith(api, { email: ada.email }), '/body/password')
  assertInvalid(await signInWith(api, { email: ada.email, password: 'x', next: '/' }), '/body/next')
  assertError(await signInWith(api, { email: ada.email, password: 'x'.repeat(1000) }), 401, 'sign_in_failed')
})

test('a name can be changed, and one that is blank or misleads readers is refused', async () => {
  const ada = await createAccount(api)
  const changed = await requestAs(api, ada, 'PATCH', '/app/api/account', { name: ' Ada King ' })
  assert.equal(changed.body.data.user.name, 'Ada King')
  for (const name of ['  ', 'Ada\nKing', 'Ada \u202egniK', 'x'.repeat(101)]) {
    assertInvalid(await requestAs(api, ada, 'PATCH', '/app/api/account', { name }), '/body/name')
  }
})
