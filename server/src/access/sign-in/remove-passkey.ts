import { lastSignInMethod } from '../../errors/sign-in.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import type { FoundSession } from '../sessions/session.store.ts'
import { updateSessionEnds } from '../sessions/session-end.store.ts'
import { findMethods, lockUser } from './account.store.ts'
import { deletePasskey } from './passkey.store.ts'

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
    if (!left.password && left.passkeys === 0 && method !== 'sso') throw lastSignInMethod()
    await updateSessionEnds(tx, user_id, sessionId, now)
    await auditPerson(tx, user_id, { action: 'passkey.remove', object: { type: 'passkey', id } }, now)
  })
}
