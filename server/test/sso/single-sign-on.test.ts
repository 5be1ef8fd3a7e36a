import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { SESSIONS_PER_USER_MAX, startSession } from '../../src/access/sign-in/start-session.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { createAccount, PASSWORD, signInWith } from '../support/accounts.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError, assertInvalid } from '../support/assert-error.ts'
import { startIssuer } from '../support/oidc-issuer.ts'
import { CLIENT, cookiesOf, type OpenIdProvider, open, startOpenIdProvider } from '../support/openid-provider.ts'
import { createPerson, duringMemberChange, type Person, pageHeaders, requestAs } from '../support/people.ts'

let idp: OpenIdProvider
let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  idp = await startOpenIdProvider()
  api = await startTestApi({
    env: {
      SHIPLOCK_SSO_ISSUER: idp.issuer,
      SHIPLOCK_SSO_CLIENT_ID: CLIENT.client_id,
      SHIPLOCK_SSO_CLIENT_SECRET: CLIENT.client_secret,
      SHIPLOCK_SSO_ORG: 'nowhere',
    },
  })
  idp.register(api)
})
beforeEach(async () => {
  caller = await api.caller()
  admin = await createPerson(api, caller)
})
after(async () => {
  await api?.close()
  await idp?.close()
})

const SETTINGS = { issuer: '', ...CLIENT, creates_accounts: true, default_role: 'viewer' }
const configure = (fields: object = {}, person = admin) =>
  requestAs(api, person, 'PUT', '/single-sign-on', { ...SETTINGS, issuer: idp.issuer, ...fields })

let people = 0
/** A person at the provider, who uses the browser from now on. */
function newPerson(claims: object = {}): string {
  people += 1
  const email = `person.${people}@example.com`
  idp.person = `subject-${people}`
  idp.people[idp.person] = { email, email_verified: true, name: 'Ada Lovelace', ...claims }
  return email
}

/** The whole sign-in of a browser with these cookies. */
async function signIn(query: string, cookie = ''): Promise<Answer> {
  const started = await open(api, `/app/api/sso/start${query}`, cookie)
  assert.equal(started.status, 302, started.text)
  const back = await idp.visit(started.headers.get('location') as string)
  return open(api, back.pathname + back.search, [cookie, cookiesOf(started)].filter(Boolean).join('; '))
}

const signInTo = (slug = caller.slug, cookie = '') => signIn(`?org=${slug}&next=/runs`, cookie)
const startLink = (person: Person) =>
  requestAs(api, person, 'POST', '/app/api/account/identities', { organization: caller.slug, next: '/runs' })

/** Links the identity of the browser to the account of a person, who comes back with a cookie. */
async function link(person: Person, cookie = person.cookie): Promise<Answer> {
  const started = await startLink(person)
  assert.equal(started.status, 200, started.text)
  const back = await idp.visit(started.body.data.location)
  return open(api, back.pathname + back.search, [cookie, cookiesOf(started)].filter(Boolean).join('; '))
}

/** A member of the organization with a password. */
async function createMember(): Promise<Person> {
  const person = await createAccount(api)
  await addMember(person)
  return { ...person, org: admin.org }
}

async function addMember({ userId }: Person, { orgId } = caller): Promise<void> {
  await api.services.sql`
    insert into members (org_id, user_id, built_in_role, created_at)
    values (${orgId}, ${userId}, 'viewer', now())`
}

async function unlink(person: Person): Promise<Answer> {
  const [identity] = (await requestAs(api, person, 'GET', '/app/api/account/identities')).body.data
  return requestAs(api, person, 'DELETE', `/app/api/account/identities/${identity.id}`)
}

const asPerson = (answer: Answer): Person => ({ ...admin, cookie: cookiesOf(answer) })

test('a first sign-in makes an account with a role, and a later one signs in to it', async () => {
  assert.equal((await configure()).status, 200)
  const email = newPerson()
  const first = await signInTo()
  assert.equal(first.status, 302, first.text)
  assert.equal(first.headers.get('location'), '/runs')
  assert.equal((await requestAs(api, asPerson(first), 'GET', '/runs')).status, 200)
  const again = await signInTo()
  assert.equal(again.status, 302, again.text)
  const members = (await requestAs(api, admin, 'GET', `/members?search=${email}`)).body.data
  assert.deepEqual(
    members.map(({ name, role }: { name: string; role: string }) => [name, role]),
    [['Ada Lovelace', 'viewer']],
  )
})

test('the client secret is stored sealed, and is never returned', async () => {
  const answer = await configure()
  assert.ok(!answer.text.includes(CLIENT.client_secret))
  assert.equal(answer.body.data.callback_url, `${api.url}/app/api/sso/callback`)
  const rows = await api.services.sql`select * from single_sign_on`
  const entries = await api.services.sql`select * from audit_entries`
  assert.ok(!JSON.stringify([rows, entries]).includes(CLIENT.client_secret))
  assertInvalid(await configure({ issuer: 'https://other.example', client_secret: undefined }), '/body/client_secret')
  assert.equal((await configure({ client_secret: undefined, email_domains: ['example.com'] })).status, 200)
  assert.deepEqual((await requestAs(api, admin, 'GET', '/single-sign-on')).body.data.email_domains, ['example.com'])
})

test('403 sso_refused for addresses that are not verified or not allowed, and where no accounts are made', async () => {
  await configure({ email_domains: ['example.com'] })
  const refusalOf = async () => assertError(await signInTo(), 403, 'sso_refused').reason
  newPerson({ email_verified: false })
  assert.equal(await refusalOf(), 'email_not_verified')
  newPerson({ email: 'eve@evil.example' })
  assert.equal(await refusalOf(), 'domain_not_allowed')
  newPerson({ email: 'eve@example.com.evil.example' })
  assert.equal(await refusalOf(), 'domain_not_allowed')
  await configure({ creates_accounts: false })
  newPerson()
  assert.equal(await refusalOf(), 'no_account')
  await configure({ default_role: null })
  newPerson()
  assert.equal(await refusalOf(), 'no_role')
  const [{ count }] = await api.services.sql<[{ count: number }]>`
    select count(*) as count from members where org_id = ${caller.orgId}`
  assert.equal(count, 1)
})

test('the role follows the claim at each sign-in, and people without a mapped value are refused', async () => {
  const role_map = [
    { value: 'releases', role: 'release_manager' },
    { value: 'staff', role: 'developer' },
  ]
  await configure({ role_claim: 'groups', role_map, default_role: null })
  const email = newPerson({ groups: ['staff', 'other'] })
  const roleNow = async () => (await requestAs(api, admin, 'GET', `/members?search=${email}`)).body.data[0]?.role
  assert.equal((await signInTo()).status, 302)
  assert.equal(await roleNow(), 'developer')
  Object.assign(idp.people[idp.person] as object, { groups: ['staff', 'releases'] })
  assert.equal((await signInTo()).status, 302)
  assert.equal(await roleNow(), 'release_manager')
  Object.assign(idp.people[idp.person] as object, { groups: [] })
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'no_role')
})

test('an address makes no account known to others: the provider of an organization makes one that is private to it', async () => {
  await configure()
  const person = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  newPerson({ email: person.email })
  const known = asPerson(await signInTo())
  const { user, organizations } = (await requestAs(api, known, 'GET', '/app/api/session')).body.data
  assert.notEqual(user.id, person.userId)
  assert.deepEqual(
    organizations.map(({ slug }: { slug: string }) => slug),
    [caller.slug],
  )
  const email = newPerson()
  assert.equal((await signInTo()).status, 302)
  const { userId } = await createAccount(api)
  await api.services.sql`update users set email = ${email} where id = ${userId}`
  assert.equal((await signInWith(api, { email, password: PASSWORD })).status, 200)
  assertError(await requestAs(api, admin, 'POST', '/invitations', { email, role: 'viewer' }), 409, 'already_member')
})

test('an address that a person opens links nothing, and leaves their session alone', async () => {
  await configure()
  const victim = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  newPerson()
  const start = `/app/api/sso/start?org=${caller.slug}&next=/runs`
  const started = await open(api, start, victim.cookie)
  assert.equal(started.headers.get('location'), `/account/link?org=${caller.slug}&next=%2Fruns`)
  // The sign-in was started before the victim signed in.
  const early = await open(api, start)
  const back = await idp.visit(early.headers.get('location') as string)
  const answer = await open(api, back.pathname + back.search, `${victim.cookie}; ${cookiesOf(early)}`)
  assert.equal(assertError(answer, 403, 'sso_refused').reason, 'signed_in')
  assert.deepEqual(answer.headers.getSetCookie(), [])
  assert.equal((await requestAs(api, victim, 'GET', '/runs')).status, 200)
  assert.deepEqual((await requestAs(api, victim, 'GET', '/app/api/account/identities')).body.data, [])
})

test('a session of one organization is not replaced by the provider of another', async () => {
  await configure()
  newPerson()
  const member = asPerson(await signInTo())
  const other = await api.caller()
  await configure({}, await createPerson(api, other))
  const started = await open(api, `/app/api/sso/start?org=${other.slug}`, member.cookie)
  assert.equal(started.headers.get('location'), `/account/link?org=${other.slug}`)
  const again = await signInTo(caller.slug, member.cookie)
  assert.equal(again.status, 302)
  assertError(await requestAs(api, member, 'GET', '/runs'), 401, 'not_signed_in')
  assert.equal((await requestAs(api, asPerson(again), 'GET', '/runs')).status, 200)
})

test('a person links an identity by a request of a page, after a fresh sign-in, and keeps the session', async () => {
  await configure()
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  newPerson()
  assert.equal((await link(person)).headers.get('location'), '/runs')
  assert.equal((await requestAs(api, person, 'GET', '/app/api/session')).status, 200)
  const [identity] = (await requestAs(api, person, 'GET', '/app/api/account/identities')).body.data
  assert.deepEqual(
    [identity.organization.slug, identity.organization.name, identity.issuer],
    [caller.slug, caller.slug, idp.issuer],
  )
  const limited = asPerson(await signInTo())
  assert.equal((await requestAs(api, limited, 'GET', '/app/api/session')).body.data.user.id, person.userId)
  const form = await api.request('POST', '/app/api/account/identities', {
    headers: { cookie: person.cookie },
    body: { organization: caller.slug },
  })
  assertError(form, 403, 'cross_site_request')
  api.clock.advance(16 * 60_000)
  assertError(await startLink(person), 403, 'fresh_sign_in_required')
  assertError(await startLink(limited), 403, 'limited_session')
})

test('an identity links to one account: not to that of a thief, and not after the owner has signed out', async () => {
  await configure()
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  const thief = await createPerson(api, { ...caller, role: 'viewer' })
  newPerson({ email: person.email })
  assert.equal(assertError(await link(thief), 403, 'sso_refused').reason, 'account_exists')
  assert.equal((await link(person)).status, 302)
  assert.equal(assertError(await link(thief), 403, 'sso_refused').reason, 'account_exists')
  newPerson()
  assertError(await link(thief, person.cookie), 400, 'sso_failed')
  assertError(await link(thief, ''), 400, 'sso_failed')
})

test('linking to an organization whose provider makes no accounts needs a membership', async () => {
  await configure({ creates_accounts: false })
  const stranger = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  newPerson()
  assert.equal(assertError(await link(stranger), 403, 'sso_refused').reason, 'not_a_member')
  assert.deepEqual((await requestAs(api, stranger, 'GET', '/app/api/account/identities')).body.data, [])
})

test('an unlinked identity signs in no more, and who was removed does not come back with it', async () => {
  await configure()
  const person = await createMember()
  newPerson({ email: person.email })
  await link(person)
  const limited = asPerson(await signInTo())
  assert.equal((await unlink(person)).status, 200)
  assertError(await requestAs(api, limited, 'GET', '/runs'), 401, 'not_signed_in')
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'account_exists')
  await requestAs(api, admin, 'DELETE', `/members/${person.userId}`)
  assert.equal(assertError(await link(person), 403, 'sso_refused').reason, 'not_a_member')
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'account_exists')
})

test('an account that a provider made links its identity again, and another one after it has left', async () => {
  await configure()
  const email = newPerson()
  const first = asPerson(await signInTo())
  assert.equal((await unlink(first)).status, 200)
  const second = asPerson(await signInTo())
  const { user } = (await requestAs(api, second, 'GET', '/app/api/session')).body.data
  assert.equal(user.email, email)
  const owner = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  assert.equal(assertError(await link(owner), 403, 'sso_refused').reason, 'account_exists')
  assert.equal((await requestAs(api, second, 'DELETE', `/app/api/account/organizations/${caller.slug}`)).status, 204)
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'not_a_member')
  assert.equal(assertError(await link(owner), 403, 'sso_refused').reason, 'not_a_member')
  await addMember(owner)
  assert.equal((await link(owner)).status, 302)
})

test('409 last_sign_in_method for the only way to sign in to an account of the server', async () => {
  await configure()
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  newPerson()
  await link(person)
  assertError(await unlink(person), 409, 'last_sign_in_method')
  const owner = await createMember()
  newPerson()
  await link(owner)
  assert.equal((await unlink(owner)).status, 200)
  const other = `/app/api/account/identities/${createUuid(api.clock.now())}`
  assertError(await requestAs(api, owner, 'DELETE', other), 404, 'not_found')
})

test('a session of an organization’s provider opens only that organization, and neither shows nor changes the account', async () => {
  await configure()
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  newPerson()
  await link(person)
  const limited = asPerson(await signInTo())
  const other = await api.caller()
  await addMember(person, other)
  const entries = () => api.services.sql`select action from audit_entries where org_id = ${other.orgId}`
  assert.equal((await requestAs(api, limited, 'GET', '/runs')).status, 200)
  const elsewhere = { ...limited, org: `/app/api/orgs/${other.slug}` }
  assertError(await requestAs(api, elsewhere, 'GET', '/runs'), 404, 'not_found')
  const { organizations, session } = (await requestAs(api, limited, 'GET', '/app/api/session')).body.data
  assert.deepEqual([organizations.map(({ slug }: { slug: string }) => slug), session.limited], [[caller.slug], true])
  const change = { new_password: 'the password of a thief' }
  assertError(await requestAs(api, limited, 'PUT', '/app/api/account/password', change), 403, 'limited_session')
  assertError(await requestAs(api, limited, 'GET', '/app/api/account/passkeys'), 403, 'limited_session')
  assertError(await requestAs(api, limited, 'DELETE', `/app/api/account/organizations/${other.slug}`), 404, 'not_found')
  const own = asPerson(await signInTo())
  const listed = (await requestAs(api, own, 'GET', '/app/api/account/sessions')).body.data
  assert.deepEqual(
    listed.map(({ organization }: { organization: string }) => organization),
    [caller.slug, caller.slug],
  )
  const all = (await requestAs(api, person, 'GET', '/app/api/account/sessions')).body.data
  assert.equal(all.length, 3)
  const [mine] = all.filter(({ current }: { current: boolean }) => current)
  assertError(await requestAs(api, own, 'DELETE', `/app/api/account/sessions/${mine.id}`), 404, 'not_found')
  const ended = await requestAs(api, own, 'POST', '/app/api/account/sessions/revoke-others')
  assert.equal(ended.body.data.revoked, 1)
  assert.equal((await requestAs(api, person, 'GET', '/app/api/session')).status, 200)
  assert.deepEqual([...(await entries())], [])
})

test('sign-ins of an organization’s provider end no other sessions', async () => {
  await configure()
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  newPerson()
  await link(person)
  for (let count = 0; count < SESSIONS_PER_USER_MAX + 1; count += 1)
    await api.services.sql.begin((tx) =>
      startSession(tx, {
        userId: person.userId,
        method: 'sso',
        orgId: caller.orgId,
        place: { address: null, user_agent: null, browser: 'of a test' },
        now: api.clock.now(),
      }),
    )
  assert.equal((await requestAs(api, person, 'GET', '/app/api/session')).status, 200)
})

test('a person leaves an organization, unless they are its last Org admin', async () => {
  const path = `/app/api/account/organizations/${caller.slug}`
  assertError(await requestAs(api, admin, 'DELETE', path), 409, 'last_org_admin')
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  assert.equal((await requestAs(api, person, 'DELETE', path)).status, 204)
  assertError(await requestAs(api, person, 'GET', '/runs'), 404, 'not_found')
  assertError(await requestAs(api, person, 'DELETE', path), 404, 'not_found')
  assert.equal((await requestAs(api, admin, 'GET', `/members?search=${person.email}`)).body.data.length, 0)
  const second = await createPerson(api, { ...caller, role: 'viewer' })
  api.clock.advance(16 * 60_000)
  assertError(await requestAs(api, second, 'DELETE', path), 403, 'fresh_sign_in_required')
})

test('a removed member does not come back by single sign-on, and a disabled one stays out', async () => {
  await configure()
  const email = newPerson()
  assert.equal((await signInTo()).status, 302)
  const [{ user_id }] = (await requestAs(api, admin, 'GET', `/members?search=${email}`)).body.data
  await requestAs(api, admin, 'POST', `/members/${user_id}/disable`)
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'disabled')
  await requestAs(api, admin, 'DELETE', `/members/${user_id}`)
  assert.equal(assertError(await signInTo(), 403, 'sso_refused').reason, 'not_a_member')
})

test('the provider of the server signs in to an existing account with the verified address', async () => {
  const person = await createPerson(api, { ...caller, role: 'developer' })
  newPerson({ email: person.email.toUpperCase(), email_verified: false })
  assert.equal(assertError(await signIn(''), 403, 'sso_refused').reason, 'email_not_verified')
  newPerson({ email: person.email })
  const answer = await signIn(`?org=${caller.slug}`)
  assert.equal(answer.status, 302, answer.text)
  assert.equal((await requestAs(api, asPerson(answer), 'GET', '/runs')).status, 200)
  const [entry] = await api.services.sql`
    select details
    from audit_entries
    where action = 'single_sign_on.connect'
      and principal_id = ${person.userId}`
  assert.deepEqual(entry?.details, { issuer: idp.issuer })
  // The address was given to another person.
  newPerson({ email: person.email })
  assert.equal(assertError(await signIn(''), 403, 'sso_refused').reason, 'account_exists')
})

test('the provider of the server removes the ways to sign in of whoever made the account before its owner', async () => {
  const squatter = await createAccount(api)
  const password = { email: squatter.email, password: PASSWORD }
  newPerson({ email: squatter.email })
  const owner = asPerson(await signIn(''))
  assertError(await requestAs(api, squatter, 'GET', '/app/api/session'), 401, 'not_signed_in')
  assertError(await signInWith(api, password), 401, 'sign_in_failed')
  assert.equal((await requestAs(api, owner, 'GET', '/app/api/session')).body.data.sign_in_methods.password, false)
})

test('an owner who is signed in when they start single sign-on keeps the password', async () => {
  const owner = await createAccount(api)
  newPerson({ email: owner.email })
  assert.equal((await signIn('', owner.cookie)).status, 302)
  assert.equal((await signInWith(api, { email: owner.email, password: PASSWORD })).status, 200)
})

test('400 sso_failed for a replayed callback, another browser, a changed state, and another issuer', async () => {
  await configure()
  newPerson()
  const start = async () => {
    const started = await open(api, `/app/api/sso/start?org=${caller.slug}`)
    const back = await idp.visit(started.headers.get('location') as string)
    return { back, cookie: cookiesOf(started) }
  }
  const callback = ({ pathname, search }: URL, cookie: string) => open(api, pathname + search, cookie)
  const first = await start()
  assert.equal((await callback(first.back, first.cookie)).status, 302)
  assertError(await callback(first.back, first.cookie), 400, 'sso_failed')
  const [second, third] = [await start(), await start()]
  assertError(await callback(second.back, third.cookie), 400, 'sso_failed')
  assertError(await callback(second.back, ''), 400, 'sso_failed')
  second.back.searchParams.set('state', third.back.searchParams.get('state') as string)
  assertError(await callback(second.back, second.cookie), 400, 'sso_failed')
  const mixedUp = await start()
  mixedUp.back.searchParams.set('iss', 'https://evil.example')
  assertError(await callback(mixedUp.back, mixedUp.cookie), 400, 'sso_failed')
  const foreignCode = await start()
  foreignCode.back.searchParams.set('code', (await start()).back.searchParams.get('code') as string)
  assertError(await callback(foreignCode.back, foreignCode.cookie), 400, 'sso_failed')
  const expired = await start()
  api.clock.advance(10 * 60_000)
  assertError(await callback(expired.back, expired.cookie), 400, 'sso_failed')
})

test('a network that starts 20,000 sign-ins ends its own, and not that of a person elsewhere', async () => {
  await configure()
  newPerson()
  const started = await open(api, `/app/api/sso/start?org=${caller.slug}`)
  const back = await idp.visit(started.headers.get('location') as string)
  await api.services.sql`
    insert into sso_requests (
      state_sha256, browser_sha256, issuer, nonce, code_verifier, next, network_hmac, expires_at
    )
    select sha256(number::text::bytea), sha256(''), '', '', '', '', 'stranger', ${api.clock.now()}::timestamptz + interval '20 minutes'
    from generate_series(1, 20_000) number`
  await open(api, `/app/api/sso/start?org=${caller.slug}`)
  const [{ count }] = await api.services.sql<[{ count: number }]>`select count(*)::int as count from sso_requests`
  assert.equal(count, 18_001)
  assert.equal((await open(api, back.pathname + back.search, cookiesOf(started))).status, 302)
  await api.services.sql`delete from sso_requests`
})

test('a request is bound to PKCE, state and nonce, and asks again for the password of a person who is signed in', async () => {
  await configure()
  const parametersOf = async () => {
    const started = await open(api, `/app/api/sso/start?org=${caller.slug}`)
    return new URL(started.headers.get('location') as string).searchParams
  }
  const parameters = await parametersOf()
  assert.equal(parameters.get('code_challenge_method'), 'S256')
  for (const name of ['code_challenge', 'state', 'nonce']) assert.ok((parameters.get(name) ?? '').length >= 43, name)
  assert.equal(parameters.get('prompt'), null)
  const linking = new URL((await startLink(admin)).body.data.location).searchParams
  assert.deepEqual([linking.get('prompt'), linking.get('max_age')], ['login', '300'])
})

test('a person who came by another name of this machine goes on under the base URL', async () => {
  await configure()
  const path = `/app/api/sso/start?org=${caller.slug}`
  const answer = await fetch(api.url.replace('127.0.0.1', 'localhost') + path, { redirect: 'manual' })
  assert.equal(answer.headers.get('location'), api.url + path)
})

test('next leads only to paths of this server', async () => {
  await configure()
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/%09/evil',
    'runs',
    '/a\tb',
    'javascript:alert(1)',
  ]) {
    newPerson()
    const answer = await signIn(`?org=${caller.slug}&next=${encodeURIComponent(next)}`)
    const location = answer.headers.get('location') as string
    assert.equal(new URL(location, api.url).origin, api.url, next)
    assert.ok(location.startsWith('/') && !location.startsWith('//'), location)
  }
})

test('an issuer that cannot be reached or is another one is 502, and browsers get a page', async () => {
  await configure({ issuer: 'http://127.0.0.1:9' })
  const path = `/app/api/sso/start?org=${caller.slug}`
  assertError(await open(api, path), 502, 'identity_provider_unavailable')
  const headers = { accept: 'text/html' }
  const shown = await fetch(api.url + path, { redirect: 'manual', headers })
  assert.equal(shown.headers.get('location'), '/sign-in?error=identity_provider_unavailable')
  await configure({ issuer: idp.issuer.replace('127.0.0.1', 'localhost') })
  assertError(await open(api, path), 502, 'identity_provider_unavailable')
})

test('redirects of an issuer are not followed, and its endpoints are asked only where the issuer may be', async () => {
  const asked: string[] = []
  const issuer = await startIssuer()
  try {
    const target = await startIssuer()
    target.answer('/stolen', (_request, response) => void response.end(asked.push('stolen')))
    issuer.answer('/.well-known/openid-configuration', (_request, response) => {
      response.writeHead(302, { location: `${target.url}/stolen` }).end()
    })
    await configure({ issuer: issuer.url })
    const path = `/app/api/sso/start?org=${caller.slug}`
    assertError(await open(api, path), 502, 'identity_provider_unavailable')
    assert.deepEqual(asked, [])
    await target.close()
    issuer.answer('/.well-known/openid-configuration', (_request, response) => {
      const endpoints = { authorization_endpoint: `${issuer.url}/auth`, token_endpoint: 'http://10.0.0.1/token' }
      const document = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...endpoints }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    })
    const started = await open(api, path)
    const state = new URL(started.headers.get('location') as string).searchParams.get('state')
    const callback = await open(api, `/app/api/sso/callback?code=a&state=${state}`, cookiesOf(started))
    assertError(callback, 400, 'sso_failed')
  } finally {
    await issuer.close()
  }
})

test('400 and 403 for invalid settings and roles that one cannot give', async () => {
  for (const issuer of ['http://idp.example', 'https://user:pass@idp.example', 'https://idp.example/?a=b', 'idp'])
    assertInvalid(await configure({ issuer }), '/body/issuer')
  assertInvalid(await configure({ default_role: 'root' }), '/body/default_role')
  assertInvalid(await configure({ role_map: [{ value: 'a', role: 'viewer' }] }), '/body/role_claim')
  const manager = await createPerson(api, { ...caller, permissions: ['view', 'manage_members'] })
  assertError(await configure({ default_role: 'org_admin' }, manager), 403, 'insufficient_permission')
})

test('removed settings end the sessions that the provider started', async () => {
  await configure()
  newPerson()
  const member = asPerson(await signInTo())
  assert.equal((await requestAs(api, admin, 'DELETE', '/single-sign-on')).status, 204)
  assertError(await requestAs(api, member, 'GET', '/runs'), 401, 'not_signed_in')
  const none = await requestAs(api, admin, 'GET', '/single-sign-on')
  assert.deepEqual([none.status, none.body], [200, { data: null }])
  const { body } = await api.request('GET', '/app/api/sso', { headers: pageHeaders(api) })
  assert.deepEqual(body.data, { available: true, organization: null, start: '/app/api/sso/start' })
})

test('400 sso_failed for a sign-in that completes while its provider is removed', async () => {
  await configure()
  newPerson()
  const started = await open(api, `/app/api/sso/start?org=${caller.slug}`)
  const back = await idp.visit(started.headers.get('location') as string)
  const answer = await duringMemberChange(
    api,
    (tx) => tx`delete from single_sign_on where org_id = ${caller.orgId}`,
    () => open(api, back.pathname + back.search, cookiesOf(started)),
  )
  assertError(answer, 400, 'sso_failed')
})
