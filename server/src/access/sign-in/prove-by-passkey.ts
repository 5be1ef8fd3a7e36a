import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { Services } from '../../services.ts'
import { addressLimit, challengeLimit } from './attempt-limit.ts'
import {
  findPasskey,
  insertChallenge,
  type KnownPasskey,
  listPasskeys,
  takeChallenge,
  usePasskey,
} from './passkey.store.ts'
import { type Proof, passkeyFailed } from './proof.ts'
import { CHALLENGE_MS_MAX, challengeOf, hashChallenge, relyingPartyOf, userHandleOf } from './relying-party.ts'
import { returnAttempt, takeAttempt } from './take-attempt.ts'

/** Whose passkey is asked for: null for a sign-in, where the passkey tells who it is. */
type Asked = { userId: string | null; address: string | null }

/** Options for `navigator.credentials.get()`. Their challenge can be answered once. */
export async function createRequestOptions(
  services: Services,
  { userId, address }: Asked,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { sql, clock, config } = services
  await takeAttempt(services, challengeLimit(address))
  // Loading the package takes 0.1 s.
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  const allowed = userId === null ? null : await listPasskeys(sql, userId)
  const options = await generateAuthenticationOptions({
    rpID: relyingPartyOf(config.baseUrl).id,
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
export async function proveByPasskey(
  services: Services,
  response: AuthenticationResponseJSON,
  { userId, address }: Asked,
): Promise<Proof> {
  const { sql, clock } = services
  const limit = addressLimit(address)
  await takeAttempt(services, limit)
  const answered = challengeOf(response.response.clientDataJSON) ?? ''
  if (!(await takeChallenge(sql, challenge(answered, userId), clock.now()))) throw passkeyFailed()
  const passkey = await findPasskey(sql, response.id)
  if (passkey === null || !isOf(passkey, response, userId)) throw passkeyFailed()
  const signCount = await verify(services, response, { passkey, answered })
  if (signCount === null) throw passkeyFailed()
  await returnAttempt(services, limit)
  return {
    userId: passkey.user_id,
    method: 'passkey',
    settle: (tx) => usePasskey(tx, passkey.id, signCount, clock.now()),
  }
}

/** A sign-in without a user requires the user handle (WebAuthn §7.2, step 6). */
function isOf({ user_id }: KnownPasskey, { response }: AuthenticationResponseJSON, userId: string | null): boolean {
  if (userId !== null && userId !== user_id) return false
  if (!response.userHandle) return userId !== null
  return response.userHandle === userHandleOf(user_id).toString('base64url')
}

type Verified = { passkey: KnownPasskey; answered: string }

/** Returns the new signature counter, or null if the response does not verify. */
async function verify(services: Services, response: AuthenticationResponseJSON, { passkey, answered }: Verified) {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { id, origins } = relyingPartyOf(services.config.baseUrl)
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
