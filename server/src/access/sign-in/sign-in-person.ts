import type { ApiError } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import { type FoundSession, updateSessionToken } from '../sessions/session.store.ts'
import { createSessionToken, hashSessionToken } from '../sessions/session.ts'
import { type SignInPlace, startSession } from '../sessions/start-session.ts'
import { createPasskeyFailedError, createPasswordFailedError, createSessionEndedError, type Proof } from './proof.ts'

/** A visit of a browser: where it comes from, and the session token that it sent. */
type Visit = { place: SignInPlace; token: string | null }

/** Starts the session of a person who has proved who they are. Returns its token. */
export async function signInPerson({ sql, clock }: Services, proof: Proof, visit: Visit): Promise<string> {
  const { userId, method, settle } = proof
  return sql.begin(async (tx) => {
    if (!(await settle(tx))) throw toFailure(proof)
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
    await auditPerson(tx, session.user_id, { action: 'session.confirm', object, details }, now)
  })
  return token
}

function toFailure({ method }: Proof): ApiError {
  return method === 'passkey' ? createPasskeyFailedError() : createPasswordFailedError()
}
