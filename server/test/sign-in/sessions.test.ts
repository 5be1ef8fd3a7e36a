import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { forgetSignIns } from '../../src/access/gateway/forget-leftovers.job.ts'
import { cookieOf, createAccount, PASSWORD, post, signInWith } from '../support/accounts.ts'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'
import { type Person, pageHeaders, requestAs } from '../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SESSIONS = '/app/api/account/sessions'

function whoAmI(cookie: string, server = api): Promise<Answer> {
  return server.request('GET', '/app/api/session', { headers: pageHeaders(server, cookie) })
}

async function statusOf(cookie: string, server = api): Promise<number> {
  return (await whoAmI(cookie, server)).status
}

/** The cookie of a new session of a person. */
async function signInAgain({ email }: Person, cookie?: string): Promise<string> {
  return cookieOf(await signInWith(api, { email, password: PASSWORD }, cookie))
}

test('a copy of the cookie is refused after sign-out, in every process', async () => {
  const ada = await createAccount(api)
  const beside = await startTestApi({ beside: api })
  assert.equal(await statusOf(ada.cookie, beside), 200)
  const answer = await requestAs(api, ada, 'DELETE', '/app/api/session')
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('set-cookie') ?? '', /^shiplock=; Max-Age=0/)
  assert.deepEqual([await statusOf(ada.cookie), await statusOf(ada.cookie, beside)], [401, 401])
  await beside.close()
  assertError(await requestAs(api, ada, 'DELETE', '/app/api/session'), 401, 'not_signed_in')
})

test('a sign-in takes no token from the browser (session fixation)', async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  for (const fixed of [eve.cookie, 'shiplock=chosen', `shiplock=shl_session_${'a'.repeat(46)}`]) {
    const cookie = await signInAgain(ada, fixed)
    assert.notEqual(cookie, fixed)
    assert.equal((await whoAmI(cookie)).body.data.user.id, ada.userId)
    assert.equal(await statusOf(fixed), 401)
  }
})

test('a sign-in ends the session that the browser had', async () => {
  const ada = await createAccount(api)
  const other = await signInAgain(ada)
  const next = await signInAgain(ada, ada.cookie)
  assert.deepEqual(await Promise.all([ada.cookie, other, next].map((cookie) => statusOf(cookie))), [401, 200, 200])
})

test('a confirmation makes the session fresh and replaces its token', async () => {
  const ada = await createAccount(api)
  const { id } = (await whoAmI(ada.cookie)).body.data.session
  api.clock.advance(20 * MINUTE_MS)
  assertError(await post(api, 'account/totp', {}, ada.cookie), 403, 'fresh_sign_in_required')
  const answer = await post(api, 'session/confirm', { password: PASSWORD }, ada.cookie)
  assert.equal(answer.status, 200, answer.text)
  const { session } = answer.body.data
  assert.deepEqual([session.id, session.fresh, session.signed_in_at], [id, true, api.clock.now().toISOString()])
  assert.equal(await statusOf(ada.cookie), 401)
  assert.equal((await post(api, 'account/totp', {}, cookieOf(answer))).status, 200)
})

test('of parallel confirmations of one token, one gets a new token', async () => {
  const ada = await createAccount(api)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => post(api, 'session/confirm', { password: PASSWORD }, ada.cookie)),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401])
})

test('401 for a confirmation with the wrong password, and 400 without or with two proofs', async () => {
  const ada = await createAccount(api)
  assertError(await post(api, 'session/confirm', { password: 'x' }, ada.cookie), 401, 'sign_in_failed')
  assert.equal(await statusOf(ada.cookie), 200)
  assertInvalid(await post(api, 'session/confirm', {}, ada.cookie), '/body')
  assertError(await post(api, 'session/confirm', { password: PASSWORD }), 401, 'not_signed_in')
})

test('a confirmation does not lengthen the seven days of a session', async () => {
  const ada = await createAccount(api)
  let cookie = ada.cookie
  for (let day = 0; day < 14; day += 1) {
    api.clock.advance(11.5 * HOUR_MS)
    cookie = cookieOf(await post(api, 'session/confirm', { password: PASSWORD }, cookie)) || cookie
  }
  assert.equal(await statusOf(cookie), 200)
  api.clock.advance(7 * HOUR_MS)
  assert.equal(await statusOf(cookie), 401)
})

test('a session ends after 12 hours without use', async () => {
  const ada = await createAccount(api)
  api.clock.advance(12 * HOUR_MS - 1)
  const { session } = (await whoAmI(ada.cookie)).body.data
  const left = Date.parse(session.expires_at) - api.clock.now().getTime()
  assert.ok(left > 12 * HOUR_MS - MINUTE_MS && left <= 12 * HOUR_MS, 'the request counts as a use')
  api.clock.advance(12 * HOUR_MS)
  assert.equal(await statusOf(ada.cookie), 401)
})

test('users see their own sessions, and which one is the present one', async () => {
  const ada = await createAccount(api)
  api.clock.advance(MINUTE_MS)
  await api.request('POST', '/app/api/sign-in/password', {
    headers: { ...pageHeaders(api), 'user-agent': 'Firefox on Linux' },
    body: { email: ada.email, password: PASSWORD },
  })
  const { body } = await requestAs(api, ada, 'GET', SESSIONS)
  assert.equal(body.data.length, 2)
  const [newest, current] = body.data
  assert.deepEqual([newest.current, newest.user_agent, newest.address], [false, 'Firefox on Linux', '127.0.0.1'])
  assert.deepEqual([current.current, current.method], [true, 'password'])
  assert.ok(!JSON.stringify(body).includes('shl_session'))
})

test('a revoked session ends at once, and the present one can be revoked', async () => {
  const ada = await createAccount(api)
  const other = await signInAgain(ada)
  const { id } = (await whoAmI(other)).body.data.session
  assert.equal((await requestAs(api, ada, 'DELETE', `${SESSIONS}/${id}`)).status, 200)
  assert.deepEqual([await statusOf(other), await statusOf(ada.cookie)], [401, 200])
  assertError(await requestAs(api, ada, 'DELETE', `${SESSIONS}/${id}`), 404, 'not_found')
  const own = (await whoAmI(ada.cookie)).body.data.session.id
  const answer = await requestAs(api, ada, 'DELETE', `${SESSIONS}/${own}`)
  assert.match(answer.headers.get('set-cookie') ?? '', /^shiplock=; Max-Age=0/)
  assert.equal(await statusOf(ada.cookie), 401)
})

test('all other sessions are revoked at once', async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const others = [await signInAgain(ada), await signInAgain(ada)]
  const { body } = await post(api, 'account/sessions/revoke-others', {}, ada.cookie)
  assert.equal(body.data.revoked, 2)
  const cookies = [ada.cookie, eve.cookie, ...others]
  assert.deepEqual(await Promise.all(cookies.map((cookie) => statusOf(cookie))), [200, 200, 401, 401])
})

test("404 not_found for another user's session, which stays", async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const { id } = (await whoAmI(ada.cookie)).body.data.session
  assertError(await requestAs(api, eve, 'DELETE', `${SESSIONS}/${id}`), 404, 'not_found')
  assert.equal(await statusOf(ada.cookie), 200)
})

test('the hundred-and-first session ends the least recently used one', async () => {
  const ada = await createAccount(api)
  const now = api.clock.now()
  await api.services.sql`
    insert into user_sessions (id, user_id, token_sha256, method, created_at, signed_in_at, last_used_at)
    select gen_random_uuid(), ${ada.userId}, sha256(number::text::bytea), 'password', ${now}, ${now}, ${now}
    from generate_series(1, 99) number`
  api.clock.advance(MINUTE_MS)
  const newest = await signInAgain(ada)
  const { body } = await requestAs(api, { ...ada, cookie: newest }, 'GET', SESSIONS)
  assert.equal(body.data.length, 100)
  assert.equal(body.data[0].current, true)
})

test("a session of an organization's single sign-on shows no other organization, and does not change the account", async () => {
  const ada = await createAccount(api)
  const second = await api.caller()
  await api.services.sql`
    insert into members (org_id, user_id, built_in_role, created_at)
    values (${second.orgId}, ${ada.userId}, 'viewer', ${api.clock.now()})`
  await api.services.sql`update user_sessions set org_id = ${second.orgId} where user_id = ${ada.userId}`
  const { organizations } = (await whoAmI(ada.cookie)).body.data
  assert.deepEqual(
    organizations.map(({ slug }: { slug: string }) => slug),
    [second.slug],
  )
  assertError(await post(api, 'account/totp', {}, ada.cookie), 403, 'limited_session')
  const change = { current_password: PASSWORD, new_password: 'a different long password' }
  assertError(await requestAs(api, ada, 'PUT', '/app/api/account/password', change), 403, 'limited_session')
  assert.equal((await requestAs(api, ada, 'DELETE', '/app/api/session')).status, 200)
})

test('sign-ins and changes of the account are in the audit log of each organization of the user', async () => {
  const ada = await createAccount(api)
  const second = await api.caller()
  const { sql } = api.services
  await sql`
    insert into members (org_id, user_id, built_in_role, created_at)
    values (${second.orgId}, ${ada.userId}, 'viewer', ${api.clock.now()})`
  const cookie = await signInAgain(ada)
  await post(api, 'session/confirm', { password: PASSWORD }, cookie)
  for (const orgId of [ada.orgId, second.orgId]) {
    const entries = await sql`
      select action, principal_type, principal_id, principal_name, details
      from audit_entries
      where org_id = ${orgId}
      order by action desc`
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['session.start', 'session.confirm'],
    )
    assert.deepEqual(entries[0], {
      action: 'session.start',
      principal_type: 'user',
      principal_id: ada.userId,
      principal_name: ada.name,
      details: { method: 'password', address: '127.0.0.1' },
    })
  }
})

test('a changed name and a sign-out are in the audit log, with the name before', async () => {
  const ada = await createAccount(api)
  const renamed = await requestAs(api, ada, 'PATCH', '/app/api/account', { name: 'Ada King' })
  assert.equal(renamed.status, 200, renamed.text)
  assert.equal((await requestAs(api, ada, 'DELETE', '/app/api/session')).status, 200)
  const entries = await api.services.sql`
    select action, principal_id, details
    from audit_entries
    where org_id = ${ada.orgId}
      and action in ('account.rename', 'session.end')
    order by action`
  assert.deepEqual(
    [...entries],
    [
      { action: 'account.rename', principal_id: ada.userId, details: { from: ada.name, to: 'Ada King' } },
      { action: 'session.end', principal_id: ada.userId, details: {} },
    ],
  )
})

test('what sign-ins leave behind is removed: old sessions, challenges and counts', async () => {
  const ada = await createAccount(api)
  const { sql } = api.services
  await post(api, 'sign-in/passkey/options', {})
  await signInWith(api, { email: ada.email, password: 'wrong' })
  await post(api, 'account/totp', {}, ada.cookie)
  api.clock.advance(31 * 24 * HOUR_MS)
  const live = await signInAgain(ada)
  await forgetSignIns.run(api.services, {})
  const [left] = await sql`
    select (select count(*)::int from user_sessions) as sessions,
      (select count(*)::int from passkey_challenges) as challenges,
      (select count(*)::int from user_totp) as enrolments,
      (select count(*)::int from sign_in_attempts where attempts > 0) as attempts`
  assert.deepEqual(left, { sessions: 1, challenges: 0, enrolments: 0, attempts: 0 })
  assert.equal(await statusOf(live), 200)
})
