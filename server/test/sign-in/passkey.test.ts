import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { cookieOf, createAccount, PASSWORD, post, signInWith } from '../support/accounts.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { Authenticator } from '../support/authenticator.ts'
import type { Json } from '../support/json.ts'
import { type Person, requestAs } from '../support/people.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** Options that the server answers with. */
async function optionsOf(path: string, cookie?: string): Promise<Json> {
  const answer = await post(api, path, {}, cookie)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

/** A passkey of a person, registered through the API. */
async function register(person: Person, name = 'Laptop') {
  const authenticator = new Authenticator(api.url)
  const options = await optionsOf('account/passkeys/options', person.cookie)
  const added = await requestAs(api, person, 'POST', '/app/api/account/passkeys', {
    name,
    credential: authenticator.create(options),
  })
  assert.equal(added.status, 201, added.text)
  return { authenticator, id: added.body.data.id as string }
}

async function signIn(authenticator: Authenticator, deviation = {}) {
  const options = await optionsOf('sign-in/passkey/options')
  return post(api, 'sign-in/passkey', { credential: authenticator.get(options, deviation) })
}

test('a registered passkey signs its user in, without an email address', async () => {
  const ada = await createAccount(api)
  const { authenticator } = await register(ada)
  const answer = await signIn(authenticator)
  assert.equal(answer.status, 200, answer.text)
  const { user, session, sign_in_methods } = answer.body.data
  assert.deepEqual([user.id, session.method, sign_in_methods.passkeys], [ada.userId, 'passkey', 1])
  const { body } = await requestAs(api, { ...ada, cookie: cookieOf(answer) }, 'GET', '/app/api/account/passkeys')
  assert.equal(body.data[0].name, 'Laptop')
  assert.equal(body.data[0].last_used_at, api.clock.now().toISOString())
})

test('options ask for a discoverable passkey with user verification', async () => {
  const ada = await createAccount(api)
  const creation = await optionsOf('account/passkeys/options', ada.cookie)
  assert.equal(creation.authenticatorSelection.residentKey, 'required')
  assert.equal(creation.authenticatorSelection.userVerification, 'required')
  assert.equal(creation.rp.id, 'localhost')
  const request = await optionsOf('sign-in/passkey/options')
  assert.deepEqual([request.userVerification, request.rpId], ['required', 'localhost'])
  assert.equal(request.allowCredentials, undefined)
})

test('401 sign_in_failed for a response to a challenge that was used, has expired or was never issued', async () => {
  const ada = await createAccount(api)
  const { authenticator } = await register(ada)
  const options = await optionsOf('sign-in/passkey/options')
  const credential = authenticator.get(options)
  assert.equal((await post(api, 'sign-in/passkey', { credential })).status, 200)
  assertError(await post(api, 'sign-in/passkey', { credential }), 401, 'sign_in_failed')
  const late = await optionsOf('sign-in/passkey/options')
  api.clock.advance(10 * 60_000)
  assertError(await post(api, 'sign-in/passkey', { credential: authenticator.get(late) }), 401, 'sign_in_failed')
  assertError(await signIn(authenticator, { challenge: 'AAAA' }), 401, 'sign_in_failed')
})

test('of parallel sign-ins with the same response, one succeeds', async () => {
  const { authenticator } = await register(await createAccount(api))
  const credential = authenticator.get(await optionsOf('sign-in/passkey/options'))
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(api, 'sign-in/passkey', { credential })))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('401 sign_in_failed for another origin or relying party, without user verification, and with an old counter', async () => {
  const { authenticator } = await register(await createAccount(api))
  for (const deviation of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }, { isVerified: false }]) {
    assertError(await signIn(authenticator, deviation), 401, 'sign_in_failed')
  }
  assert.equal((await signIn(authenticator, { counter: 10 })).status, 200)
  assertError(await signIn(authenticator, { counter: 10 }), 401, 'sign_in_failed')
})

test('401 sign_in_failed for a passkey that was never registered, or was removed', async () => {
  const ada = await createAccount(api)
  const stranger = new Authenticator(api.url)
  stranger.create(await optionsOf('account/passkeys/options', ada.cookie))
  assertError(await signIn(stranger), 401, 'sign_in_failed')
  const { authenticator, id } = await register(ada)
  assert.equal((await requestAs(api, ada, 'DELETE', `/app/api/account/passkeys/${id}`)).status, 200)
  assertError(await signIn(authenticator), 401, 'sign_in_failed')
})

test('400 passkey_refused when another user answers the challenge of a registration', async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const options = await optionsOf('account/passkeys/options', ada.cookie)
  const credential = new Authenticator(api.url).create(options)
  const answer = await requestAs(api, eve, 'POST', '/app/api/account/passkeys', { credential })
  assertError(answer, 400, 'passkey_refused')
})

test('400 passkey_refused for a registration without user verification, and for malformed responses', async () => {
  const ada = await createAccount(api)
  const options = async () => optionsOf('account/passkeys/options', ada.cookie)
  const whole = new Authenticator(api.url)
  const refused = [
    new Authenticator(api.url).create(await options(), { isVerified: false }),
    new Authenticator('https://evil.example').create(await options()),
    { ...whole.create(await options()), rawId: 'AAAA' },
    withResponse(whole.create(await options()), { attestationObject: 'AAAA' }),
    withResponse(whole.create(await options()), { clientDataJSON: 'AAAA' }),
  ]
  for (const credential of refused) {
    const answer = await requestAs(api, ada, 'POST', '/app/api/account/passkeys', { credential })
    assertError(answer, 400, 'passkey_refused')
  }
})

function withResponse(credential: Json, change: Json): Json {
  return { ...credential, response: { ...credential.response, ...change } }
}

test('409 passkey_known for a passkey that is registered, and 409 last_sign_in_method for the only way to sign in', async () => {
  const ada = await createAccount(api)
  const { authenticator, id } = await register(ada)
  const again = authenticator.create(await optionsOf('account/passkeys/options', ada.cookie))
  const known = await requestAs(api, ada, 'POST', '/app/api/account/passkeys', { credential: again })
  assertError(known, 409, 'passkey_known')
  await api.services.sql`delete from user_passwords where user_id = ${ada.userId}`
  const last = await requestAs(api, ada, 'DELETE', `/app/api/account/passkeys/${id}`)
  assertError(last, 409, 'last_sign_in_method')
  assert.equal((await signIn(authenticator, { counter: 9 })).status, 200)
})

test('of parallel removals of the last two passkeys, one fails', async () => {
  const ada = await createAccount(api)
  const ids = [(await register(ada)).id, (await register(ada)).id]
  await api.services.sql`delete from user_passwords where user_id = ${ada.userId}`
  const answers = await Promise.all(ids.map((id) => requestAs(api, ada, 'DELETE', `/app/api/account/passkeys/${id}`)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
})

test('404 not_found for a passkey of another user', async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const path = `/app/api/account/passkeys/${(await register(ada)).id}`
  assertError(await requestAs(api, eve, 'DELETE', path), 404, 'not_found')
  assertError(await requestAs(api, eve, 'PATCH', path, { name: 'Mine' }), 404, 'not_found')
  const renamed = await requestAs(api, ada, 'PATCH', path, { name: ' Phone ' })
  assert.equal(renamed.body.data.name, 'Phone')
  const [entry] = await api.services.sql`select details from audit_entries where action = 'passkey.rename'`
  assert.deepEqual(entry?.details, { name: 'Phone' })
})

test('a passkey confirms who its user is, and nobody else', async () => {
  const [ada, eve] = [await createAccount(api), await createAccount(api)]
  const [own, foreign] = [await register(ada), await register(eve)]
  api.clock.advance(16 * 60_000)
  const confirm = async (authenticator: Authenticator, cookie: string) => {
    const options = await optionsOf('session/confirm/options', cookie)
    return post(api, 'session/confirm', { credential: authenticator.get(options) }, cookie)
  }
  assertError(await confirm(foreign.authenticator, ada.cookie), 401, 'sign_in_failed')
  const answer = await confirm(own.authenticator, ada.cookie)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data.session.fresh, true)
  assert.notEqual(cookieOf(answer), ada.cookie)
})

test('a challenge of a sign-in confirms nothing, and one of a confirmation signs nobody in', async () => {
  const ada = await createAccount(api)
  const { authenticator } = await register(ada)
  const ofSignIn = authenticator.get(await optionsOf('sign-in/passkey/options'))
  assertError(await post(api, 'session/confirm', { credential: ofSignIn }, ada.cookie), 401, 'sign_in_failed')
  const ofConfirmation = authenticator.get(await optionsOf('session/confirm/options', ada.cookie))
  assertError(await post(api, 'sign-in/passkey', { credential: ofConfirmation }), 401, 'sign_in_failed')
})

test('403 fresh_sign_in_required to add a passkey in an old session', async () => {
  const ada = await createAccount(api)
  api.clock.advance(15 * 60_000)
  assertError(await post(api, 'account/passkeys/options', {}, ada.cookie), 403, 'fresh_sign_in_required')
  const fresh = cookieOf(await signInWith(api, { email: ada.email, password: PASSWORD }))
  assert.equal((await post(api, 'account/passkeys/options', {}, fresh)).status, 200)
})
