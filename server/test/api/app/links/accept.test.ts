import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createResetLink, createSetupLink } from '../../../../src/access/links/account-links.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { Authenticator } from '../../../support/authenticator.ts'
import { createPerson, type Person, pageHeaders, requestAs } from '../../../support/people.ts'

const PASSWORD = 'a plain but long sentence'
const DAY_MS = 86_400_000

let api: TestApi
let caller: Caller
let admin: Person

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  admin = await createPerson(api, caller)
})
after(() => api?.close())

const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token') as string
const post = (path: string, body: unknown, cookie?: string) =>
  api.request('POST', `/app/api/${path}`, { headers: pageHeaders(api, cookie), body })
const accept = (token: string, fields: object = { name: 'Ada', password: PASSWORD }, cookie?: string) =>
  post('links/accept', { token, ...fields }, cookie)
const cookieOf = ({ headers }: Answer) => headers.get('set-cookie')?.split(';')[0] as string

let invited = 0
async function invite(fields: object = {}, person = admin) {
  invited += 1
  const body = { email: `New.${invited}@Example.com`, role: 'developer', ...fields }
  const answer = await requestAs(api, person, 'POST', '/invitations', body)
  assert.equal(answer.status, 201, answer.text)
  return { ...answer.body.data, token: tokenOf(answer.body.data.link) }
}

test('an invited person makes an account, is signed in, and has the role', async () => {
  const invitation = await invite()
  assert.equal(invitation.mail, 'not_configured')
  assert.equal(new URL(invitation.link).pathname, '/join')
  const seen = (await post('links/inspect', { token: invitation.token })).body.data
  assert.deepEqual(seen, {
    kind: 'invitation',
    organization: { slug: caller.slug, name: caller.slug },
    email: invitation.email,
    role: 'developer',
    role_name: 'Developer',
    account_exists: false,
    expires_at: invitation.expires_at,
  })
  const accepted = await accept(invitation.token)
  assert.equal(accepted.status, 200, accepted.text)
  assert.equal(accepted.body.data.user.email, invitation.email)
  assert.equal(accepted.body.data.organization, caller.slug)
  const member = { ...admin, cookie: cookieOf(accepted) }
  assert.equal((await requestAs(api, member, 'GET', '/runs')).status, 200)
  const signedIn = await post('sign-in/password', { email: invitation.email, password: PASSWORD })
  assert.equal(signedIn.status, 200, signedIn.text)
  assert.deepEqual((await requestAs(api, admin, 'GET', '/invitations')).body.data, [])
})

test('an invitation is stored without its token, and works once, also for parallel twins', async () => {
  const { token } = await invite()
  const stored = await api.services.sql`select * from links`
  assert.ok(!JSON.stringify(stored).includes(token))
  const answers = await Promise.all([accept(token), accept(token), accept(token)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410, 410])
  assertError(await accept(token), 410, 'link_not_valid')
  assertError(await post('links/inspect', { token }), 410, 'link_not_valid')
})

test('410 link_not_valid for unknown, expired, revoked and replaced links, with one message', async () => {
  const [expired, revoked, replaced] = [await invite(), await invite(), await invite({ email: 'twice@example.com' })]
  await requestAs(api, admin, 'DELETE', `/invitations/${revoked.id}`)
  await invite({ email: 'twice@example.com' })
  await api.services.sql`update links set expires_at = ${api.clock.now()} where id = ${expired.id}`
  const answers = await Promise.all(
    [expired.token, revoked.token, replaced.token, `${expired.token}x`, 'token'].map((token) => accept(token)),
  )
  for (const answer of answers) assertError(answer, 410, 'link_not_valid')
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('an invitation expires after 7 days, and sending it again makes a new link of the same invitation', async () => {
  const invitation = await invite()
  api.clock.advance(7 * DAY_MS)
  assertError(await accept(invitation.token), 410, 'link_not_valid')
  const fresh = { ...admin, cookie: (await createPerson(api, caller)).cookie }
  assert.equal((await requestAs(api, fresh, 'GET', '/invitations')).body.data[0].expired, true)
  const answer = await requestAs(api, fresh, 'POST', `/invitations/${invitation.id}/resend`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data.id, invitation.id)
  assert.equal((await accept(tokenOf(answer.body.data.link))).status, 200)
})

test('an invitation is valid only while its author could still make it', async () => {
  const other = await createPerson(api, caller)
  const first = await invite({ role: 'org_admin' }, other)
  await requestAs(api, admin, 'POST', `/members/${other.userId}/disable`)
  assertError(await accept(first.token), 410, 'link_not_valid')
  await requestAs(api, admin, 'POST', `/members/${other.userId}/enable`)
  assert.equal((await post('links/inspect', { token: first.token })).status, 200)
  await requestAs(api, admin, 'PATCH', `/members/${other.userId}`, { role: 'security' })
  assertError(await accept(first.token), 410, 'link_not_valid')
})

test('an invitation is not replaced by a person who could not revoke it', async () => {
  const manager = await createPerson(api, { ...caller, permissions: ['view', 'manage_members'] })
  const invitation = await invite({ role: 'org_admin' })
  const body = { email: invitation.email, role: 'viewer' }
  assertError(await requestAs(api, manager, 'POST', '/invitations', body), 403, 'insufficient_permission')
  assert.equal((await accept(invitation.token)).status, 200)
})

test('the user of an existing account joins while signed in, and nobody else', async () => {
  const person = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  const { token } = await invite({ email: person.email })
  assert.equal((await post('links/inspect', { token })).body.data.account_exists, true)
  assertError(await accept(token), 401, 'not_signed_in')
  assertError(await accept(token, {}, admin.cookie), 403, 'wrong_account')
  const joined = await accept(token, {}, person.cookie)
  assert.equal(joined.status, 200, joined.text)
  assert.equal(joined.headers.get('set-cookie'), null)
  assert.equal((await requestAs(api, { ...person, org: admin.org }, 'GET', '/runs')).status, 200)
})

test('an existing account keeps its password when somebody else holds an invitation to it', async () => {
  const person = await createPerson(api, { ...(await api.caller()), role: 'viewer' })
  const { token } = await invite({ email: person.email })
  assertError(await accept(token, { name: 'Eve', password: 'the password of a thief' }), 401, 'not_signed_in')
  const rows = await api.services.sql`select from user_passwords where user_id = ${person.userId}`
  assert.equal(rows.length, 0)
})

test('409 already_member for a member who is invited again', async () => {
  const member = await createPerson(api, { ...caller, role: 'viewer' })
  const answer = await requestAs(api, admin, 'POST', '/invitations', { email: member.email, role: 'developer' })
  assertError(answer, 409, 'already_member')
})

test('an invited person makes an account with a passkey in place of a password, and signs in with it', async () => {
  const { token } = await invite()
  const { data: options } = (await post('links/passkey-options', { token, name: 'Ada' })).body
  const authenticator = new Authenticator(api.url)
  const passkey = { name: 'Laptop', credential: authenticator.create(options) }
  const accepted = await accept(token, { name: 'Ada', passkey })
  assert.equal(accepted.status, 200, accepted.text)
  const { data: challenge } = (await post('sign-in/passkey/options', {})).body
  const signedIn = await post('sign-in/passkey', { credential: authenticator.get(challenge) })
  assert.equal(signedIn.status, 200, signedIn.text)
  assert.equal(signedIn.body.data.user.id, accepted.body.data.user.id)
})

test('a passkey that was made for one link is refused for another', async () => {
  const [first, second] = [await invite(), await invite()]
  const { data: options } = (await post('links/passkey-options', { token: first.token })).body
  const passkey = { name: 'Laptop', credential: new Authenticator(api.url).create(options) }
  assertError(await accept(second.token, { name: 'Eve', passkey }), 400, 'passkey_refused')
})

test('a refused acceptance does not use up the link', async () => {
  const { token, email } = await invite()
  assertError(await accept(token, { name: 'Ada', password: 'short' }), 400, 'weak_password')
  assertInvalid(await accept(token, { name: 'Ada' }), '/body/password')
  assertInvalid(await accept(token, { name: ' ', password: PASSWORD }), '/body/name')
  assertInvalid(await accept(token, { name: 'Ada', password: PASSWORD, email: 'other@example.com' }), '/body/email')
  assert.equal((await accept(token, { name: 'Ada', password: PASSWORD, email })).status, 200)
})

test('accepting replaces the session that the browser had (session fixation)', async () => {
  const { token } = await invite()
  const accepted = await accept(token, { name: 'Ada', password: PASSWORD }, admin.cookie)
  assert.equal(accepted.status, 200)
  assert.notEqual(cookieOf(accepted), admin.cookie)
})

test('400 invalid_request for what is no email address, and for an unknown role', async () => {
  const send = (body: object) => requestAs(api, admin, 'POST', '/invitations', body)
  for (const email of [
    '',
    'ada',
    'ada@',
    '@example.com',
    'a b@example.com',
    'ada@exämple.com',
    'a@b@c',
    `${'a'.repeat(250)}@b.de`,
  ])
    assertInvalid(await send({ email, role: 'viewer' }), '/body/email')
  assertInvalid(await send({ email: 'ada@example.com', role: 'root' }), '/body/role')
})

test('a reset link replaces the password and ends all sessions', async () => {
  const { token, email } = await invite()
  const member = { ...admin, cookie: cookieOf(await accept(token)) }
  const reset = await createResetLink(api.services, email)
  assert.equal((await requestAs(api, member, 'GET', '/runs')).status, 200)
  const used = await accept(tokenOf(reset.link), { password: 'another long sentence' })
  assert.equal(used.status, 200, used.text)
  assertError(await requestAs(api, member, 'GET', '/runs'), 401, 'not_signed_in')
  assert.equal((await post('sign-in/password', { email, password: PASSWORD })).status, 401)
  assert.equal((await post('sign-in/password', { email, password: 'another long sentence' })).status, 200)
  assertError(await accept(tokenOf(reset.link), { password: PASSWORD }), 410, 'link_not_valid')
})

test('a setup link makes the first Org admin only, and a newer one replaces it', async () => {
  const own = await startTestApi()
  try {
    assert.equal(await createSetupLink(own.services), null)
    const { slug } = await own.caller()
    const send = (link: string, email: string) =>
      own.request('POST', '/app/api/links/accept', {
        headers: pageHeaders(own),
        body: { token: tokenOf(link), email, name: 'Ada', password: PASSWORD },
      })
    const first = await createSetupLink(own.services)
    const second = await createSetupLink(own.services)
    assert.ok(first && second)
    assert.equal(second.organization, slug)
    assertError(await send(first.link, 'ada@example.com'), 410, 'link_not_valid')
    own.clock.advance(3_600_000)
    assertError(await send(second.link, 'ada@example.com'), 410, 'link_not_valid')
    const third = await createSetupLink(own.services)
    assert.ok(third)
    const answers = await Promise.all([send(third.link, 'ada@example.com'), send(third.link, 'eve@example.com')])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410])
    assert.equal(await createSetupLink(own.services), null)
    const [member] = await own.services.sql`select built_in_role from members`
    assert.equal(member?.built_in_role, 'org_admin')
  } finally {
    await own.close()
  }
})
