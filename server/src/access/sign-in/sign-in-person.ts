import { notSignedIn, signInFailed } from '../../errors/sign-in.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import { removeAccountGuesses } from './attempt-limit.ts'
import { type FoundSession, type SignInMethod, updateSessionToken } from './session.store.ts'
import { createSessionToken, hashSessionToken } from './session.ts'
import { type SignInPlace, startSession } from './start-session.ts'

/** A visit of a browser: where it comes from, and the session token that it sent. */
type Visit = { place: SignInPlace; token: string | null }

/** Starts the session of a person who has proved who they are. Returns its token. */
export async function signInPerson(services: Services, proof: Proof, visit: Visit): Promise<string> {
  const { sql, clock } = services
  const { userId, method, settle } = proof
  return sql.begin(async (tx) => {
    if (!(await settle(tx))) throw toFailure(proof)
    await removeAccountGuesses(services, tx, userId)
    return startSession(tx, { userId, method, place: visit.place, now: clock.now(), replaces: visit.token })
  })
}

/**
 * Makes a session fresh again, for dangerous actions. Returns its new token; the one before is no
 * longer accepted. Throws 401 `not_signed_in` if the session ended meanwhile.
 */
export async function confirmSession(
  { sql, clock }: Services,
  session: FoundSession,
  proof: Proof,
  visit: Visit,
): Promise<string> {
  const token = createSessionToken()
  const tokens = { from: hashSessionToken(visit.token ?? ''), to: hashSessionToken(token) }
  const now = clock.now()
  await sql.begin(async (tx) => {
    if (proof.userId !== session.user_id || !(await proof.settle(tx))) throw toFailure(proof)
    if (!(await updateSessionToken(tx, session.id, tokens, now))) throw createSessionEndedError()
    const details = { method: proof.method, address: visit.place.address }
    const object = { type: 'session', id: session.id }
    await auditPerson(tx, session, { action: 'session.confirm', object, details }, now)
  })
  return token
}

function toFailure({ method }: Proof): ApiError {
  return method === 'passkey' ? createPasskeyFailedError() : createPasswordFailedError()
}

/** What shows who a person is. */
export type Proof = {
  userId: string
  method: SignInMethod
  /**
   * Stores that the proof was used, in the transaction of the session. Returns false if the
   * password or the passkey has changed since it was verified.
   */
  settle(tx: Tx): Promise<boolean>
}

/** The same error for unknown accounts, disabled users and wrong passwords. */
export function createPasswordFailedError(): ApiError {
  return signInFailed('The email address or the password is wrong.')
}

export function createPasskeyFailedError(): ApiError {
  return signInFailed('The passkey was not accepted. Try again, or sign in another way.')
}

/** The session ended, or another request replaced its token, while the request was handled. */
export function createSessionEndedError(): ApiError {
  return notSignedIn('The session has ended. Sign in again.')
}
