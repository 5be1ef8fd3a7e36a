import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { lastSignInMethod, passkeyKnown, passkeyRefused, tooManyPasskeys } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import { findMethods, lockUser } from './account.store.ts'
import {
  type ChallengeUse,
  deletePasskey,
  insertPasskey,
  insertUsedChallenge,
  listPasskeys,
  type NewPasskey,
  PASSKEYS_PER_USER_MAX,
  type Passkey,
} from './passkey.store.ts'
import {
  CHALLENGE_MS_MAX,
  createChallenge,
  encodeUserHandle,
  getRelyingParty,
  type OpenChallenge,
  openChallenge,
} from './relying-party.ts'
import { type FoundSession, updateSessionEnds } from './session.store.ts'

/** Who gets the passkey. The user may not be stored yet, but must get this id. */
type PasskeyOwner = { userId: string; email: string; name: string }

/** EdDSA, ES256 and RS256 (RFC 9053): what all authenticators and every Node.js 24 can do. */
const ALGORITHMS = [-8, -7, -257]

/** Options for `navigator.credentials.create()`. Their challenge can be answered once. */
export async function createPasskeyOptions(
  { sql, clock, config, challengeKey }: Services,
  { userId, email, name }: PasskeyOwner,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const { id, name: rpName } = getRelyingParty(config.baseUrl)
  return generateRegistrationOptions({
    rpName,
    rpID: id,
    challenge: createChallenge(challengeKey, toUse(userId), clock.now()),
    userID: encodeUserHandle(userId),
    userName: email,
    userDisplayName: name,
    timeout: CHALLENGE_MS_MAX,
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: (await listPasskeys(sql, userId)).map(({ credential_id, transports }) => ({
      id: credential_id,
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

function toUse(userId: string): ChallengeUse {
  return { purpose: 'register', user_id: userId }
}

/** A passkey that was verified and is not stored yet. */
type VerifiedPasskey = Omit<NewPasskey, 'id' | 'name' | 'created_at'>

/**
 * Verifies the response of a browser to `createPasskeyOptions` for the same user, and uses its
 * challenge up. Throws 400 `passkey_refused`.
 */
export async function verifyNewPasskey(
  services: Services,
  userId: string,
  response: RegistrationResponseJSON,
): Promise<VerifiedPasskey> {
  const { sql, clock, challengeKey } = services
  const challenge = openChallenge(challengeKey, response.response.clientDataJSON, toUse(userId), clock.now())
  if (challenge === null) throw createChallengeError()
  const info = await verify(services, response, challenge)
  if (info === null) throw passkeyRefused('The passkey could not be verified.')
  if (!(await insertUsedChallenge(sql, challenge))) throw createChallengeError()
  const { credential, credentialDeviceType } = info
  return {
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey),
    sign_count: credential.counter,
    transports: (credential.transports ?? []).slice(0, TRANSPORTS_MAX),
    is_synced: credentialDeviceType === 'multiDevice',
  }
}

function createChallengeError() {
  return passkeyRefused('The challenge is unknown, was used or has expired. Try again.')
}

const TRANSPORTS_MAX = 10

async function verify({ config, log }: Services, response: RegistrationResponseJSON, { text }: OpenChallenge) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { id, origins } = getRelyingParty(config.baseUrl)
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: text,
      expectedOrigin: origins,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    return registrationInfo ?? null
  } catch (err) {
    log.info({ err }, 'Refused a new passkey')
    return null
  }
}

type Addition = { passkey: VerifiedPasskey; name: string; now: Date }

/** Stores a passkey. Throws 409 `passkey_known` or `too_many_passkeys`. */
export async function registerPasskey(tx: Tx, userId: string, { passkey, name, now }: Addition): Promise<Passkey> {
  await lockUser(tx, userId)
  const { length } = await listPasskeys(tx, userId)
  if (length >= PASSKEYS_PER_USER_MAX) throw tooManyPasskeys(PASSKEYS_PER_USER_MAX)
  const added = { ...passkey, id: createUuid(now), name, created_at: now }
  if (!(await insertPasskey(tx, userId, added))) throw passkeyKnown()
  const object = { type: 'passkey', id: added.id }
  await auditPerson(tx, { user_id: userId }, { action: 'passkey.add', object, details: { name } }, now)
  const { id, is_synced, created_at } = added
  return { id, name, is_synced, created_at, last_used_at: null }
}

/**
 * Removes a passkey and ends the user's other sessions. Throws 409 `last_sign_in_method` if the
 * user could not sign in any more: single sign-on counts if it started this session.
 */
export async function removePasskey({ sql, clock }: Services, session: FoundSession, id: string): Promise<void> {
  const { id: sessionId, user_id, method } = session
  const now = clock.now()
  await sql.begin(async (tx) => {
    await lockUser(tx, user_id)
    if (!(await deletePasskey(tx, user_id, id))) throw createNotFoundError('passkey')
    const left = await findMethods(tx, user_id)
    if (!left.password && left.passkeys === 0 && method !== 'sso') throw lastSignInMethod('passkey')
    await updateSessionEnds(tx, session, sessionId, now)
    await auditPerson(tx, session, { action: 'passkey.remove', object: { type: 'passkey', id } }, now)
  })
}
