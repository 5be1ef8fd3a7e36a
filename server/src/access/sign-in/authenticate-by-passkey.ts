import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Services } from '../../services.ts'
import {
  type ChallengeUse,
  findPasskey,
  insertUsedChallenge,
  type KnownPasskey,
  listPasskeys,
  updatePasskeyUse,
} from './passkey.store.ts'
import {
  CHALLENGE_MS_MAX,
  createChallenge,
  encodeUserHandle,
  getRelyingParty,
  type OpenChallenge,
  openChallenge,
} from './relying-party.ts'
import { createPasskeyFailedError, type Proof } from './sign-in-person.ts'

/**
 * Options for `navigator.credentials.get()`. Their challenge can be answered once. `userId` is
 * whose passkey is asked for: null for a sign-in, where the passkey tells who it is.
 */
export async function createRequestOptions(
  { sql, clock, config, challengeKey }: Services,
  userId: string | null,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  // Loading the package takes 0.1 s.
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const allowed = userId === null ? null : await listPasskeys(sql, userId)
  return generateAuthenticationOptions({
    rpID: getRelyingParty(config.baseUrl).id,
    challenge: createChallenge(challengeKey, toUse(userId), clock.now()),
    userVerification: 'required',
    timeout: CHALLENGE_MS_MAX,
    ...(allowed && {
      allowCredentials: allowed.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    }),
  })
}

function toUse(userId: string | null): ChallengeUse {
  return { purpose: userId === null ? 'sign_in' : 'confirm', user_id: userId }
}

/**
 * Verifies the response of a browser. Nobody guesses a signature, so that attempts have no limit,
 * and nobody can use up those of others. Throws 401 `sign_in_failed`.
 */
export async function authenticateByPasskey(
  services: Services,
  response: AuthenticationResponseJSON,
  userId: string | null,
): Promise<Proof> {
  const { sql, clock, challengeKey } = services
  const challenge = openChallenge(challengeKey, response.response.clientDataJSON, toUse(userId), clock.now())
  if (challenge === null) throw createPasskeyFailedError()
  const passkey = await findPasskey(sql, response.id)
  if (passkey === null || !isForUser(passkey, response, userId)) throw createPasskeyFailedError()
  const signCount = await verify(services, response, { passkey, challenge })
  if (signCount === null || !(await insertUsedChallenge(sql, challenge))) throw createPasskeyFailedError()
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

type Verified = { passkey: KnownPasskey; challenge: OpenChallenge }

/** Returns the new signature counter, or null if the response does not verify. */
async function verify(services: Services, response: AuthenticationResponseJSON, { passkey, challenge }: Verified) {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { id, origins } = getRelyingParty(services.config.baseUrl)
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge.text,
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
