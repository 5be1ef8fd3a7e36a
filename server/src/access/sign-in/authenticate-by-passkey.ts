import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Services } from '../../services.ts'
import { getAddressLimit, getChallengeLimit, releaseAttempt, reserveAttempt } from './attempt-limit.ts'
import {
  deleteChallenge,
  findPasskey,
  insertChallenge,
  type KnownPasskey,
  listPasskeys,
  updatePasskeyUse,
} from './passkey.store.ts'
import { CHALLENGE_MS_MAX, encodeUserHandle, getRelyingParty, hashChallenge, parseChallenge } from './relying-party.ts'
import { createPasskeyFailedError, type Proof } from './sign-in-person.ts'

/** Whose passkey is asked for: null for a sign-in, where the passkey tells who it is. */
type Asked = { userId: string | null; address: string | null }

/** Options for `navigator.credentials.get()`. Their challenge can be answered once. */
export async function createRequestOptions(
  services: Services,
  { userId, address }: Asked,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { sql, clock, config } = services
  await reserveAttempt(services, getChallengeLimit(address))
  // Loading the package takes 0.1 s.
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const allowed = userId === null ? null : await listPasskeys(sql, userId)
  const options = await generateAuthenticationOptions({
    rpID: getRelyingParty(config.baseUrl).id,
    userVerification: 'required',
    timeout: CHALLENGE_MS_MAX,
    ...(allowed && {
      allowCredentials: allowed.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    }),
  })
  const expiresAt = new Date(clock.now().getTime() + CHALLENGE_MS_MAX)
  await insertChallenge(sql, challenge(options.challenge, userId), expiresAt)
  return options
}

function challenge(text: string, userId: string | null) {
  const purpose = userId === null ? ('sign_in' as const) : ('confirm' as const)
  return { challenge_sha256: hashChallenge(text), purpose, user_id: userId }
}

/** Verifies the response of a browser. Throws 401 `sign_in_failed` and 429 `rate_limited`. */
export async function authenticateByPasskey(
  services: Services,
  response: AuthenticationResponseJSON,
  { userId, address }: Asked,
): Promise<Proof> {
  const { sql, clock } = services
  const limit = getAddressLimit(address)
  await reserveAttempt(services, limit)
  const answered = parseChallenge(response.response.clientDataJSON) ?? ''
  if (!(await deleteChallenge(sql, challenge(answered, userId), clock.now()))) throw createPasskeyFailedError()
  const passkey = await findPasskey(sql, response.id)
  if (passkey === null || !isForUser(passkey, response, userId)) throw createPasskeyFailedError()
  const signCount = await verify(services, response, { passkey, answered })
  if (signCount === null) throw createPasskeyFailedError()
  await releaseAttempt(services, limit)
  return {
    userId: passkey.user_id,
    method: 'passkey',
    settle: (tx) => updatePasskeyUse(tx, passkey.id, signCount, clock.now()),
  }
}

/** A sign-in without a user requires the user handle (WebAuthn §7.2, step 6). */
function isForUser(
  { user_id }: KnownPasskey,
  { response }: AuthenticationResponseJSON,
  userId: string | null,
): boolean {
  if (userId !== null && userId !== user_id) return false
  if (!response.userHandle) return userId !== null
  return response.userHandle === encodeUserHandle(user_id).toString('base64url')
}

type Verified = { passkey: KnownPasskey; answered: string }

/** Returns the new signature counter, or null if the response does not verify. */
async function verify(services: Services, response: AuthenticationResponseJSON, { passkey, answered }: Verified) {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { id, origins } = getRelyingParty(services.config.baseUrl)
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: answered,
      expectedOrigin: origins,
      expectedRPID: id,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.sign_count,
      },
      requireUserVerification: true,
    })
    return verified ? authenticationInfo.newCounter : null
  } catch (err) {
    services.log.info({ err, user_id: passkey.user_id }, 'Refused a passkey')
    return null
  }
}
