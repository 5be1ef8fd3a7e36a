import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import { findAccount, lockUser, upsertPassword } from './account.store.ts'
import type { Guesser } from './attempt-limit.ts'
import { verifyPassword } from './authenticate-by-password.ts'
import { hashPassword, type PasswordHash, requireStrongPassword } from './password.ts'
import { type FoundSession, updateSessionEnds, updateSessionToken } from './session.store.ts'
import { createSessionToken, hashSessionToken } from './session.ts'
import { createSessionEndedError } from './sign-in-person.ts'

type Change = { now: Date; keptSessionId?: string }

/** Sets a user's password and ends all sessions of the user, except the kept one. */
export async function savePassword(
  tx: Tx,
  userId: string,
  passwordHash: PasswordHash,
  { now, keptSessionId }: Change,
): Promise<void> {
  await lockUser(tx, userId)
  await upsertPassword(tx, userId, passwordHash, now)
  await updateSessionEnds(tx, { user_id: userId }, keptSessionId ?? null, now)
}

type Request = {
  current_password?: string | undefined
  new_password: string
  token: string
  guesser: Guesser
}

/**
 * Changes the password of the session's user, or sets the first one. Ends the other sessions and
 * returns a new token for this one. Throws 401 `sign_in_failed`, 400 `weak_password` and 429
 * `rate_limited`.
 */
export async function updatePassword(services: Services, session: FoundSession, request: Request): Promise<string> {
  const { sql, clock } = services
  const { id, user_id, email } = session
  const { current_password, new_password, guesser } = request
  const account = await findAccount(sql, email)
  if (account?.password_hash) await verifyPassword(services, { email, password: current_password ?? '' }, guesser)
  requireStrongPassword(new_password, session)
  const passwordHash = await hashPassword(new_password, user_id)
  const now = clock.now()
  const token = createSessionToken()
  const tokens = { from: hashSessionToken(request.token), to: hashSessionToken(token) }
  await sql.begin(async (tx) => {
    await savePassword(tx, user_id, passwordHash, { now, keptSessionId: id })
    if (!(await updateSessionToken(tx, id, tokens, session.signed_in_at))) throw createSessionEndedError()
    await auditPerson(tx, { user_id }, { action: 'password.change', object: { type: 'user', id: user_id } }, now)
  })
  return token
}
