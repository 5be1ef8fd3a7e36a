import { invalidCode, totpEnabled, totpNotEnabled, totpNotStarted } from '../../errors/sign-in.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import type { FoundSession } from '../sessions/session.store.ts'
import { updateSessionEnds } from '../sessions/session-end.store.ts'
import { lockUser } from './account.store.ts'
import { getCodeLimit } from './attempt-limit.ts'
import {
  createRecoveryCodes,
  createTotpSecret,
  formatTotpUri,
  hashRecoveryCode,
  openTotpSecret,
  sealTotpSecret,
  verifyTotpCode,
} from './second-factor.ts'
import { removeAttempts, reserveAttempt } from './take-attempt.ts'
import { deleteTotp, findTotp, insertTotp, updateRecoveryCodes, updateTotpConfirmed } from './totp.store.ts'

/** A user, by their session. */
type Owner = Pick<FoundSession, 'id' | 'user_id' | 'email' | 'name'>

/** Starts an enrolment. TOTP is on after `confirmEnrolment`. Throws 409 `totp_enabled`. */
export async function startEnrolment({ sql, clock, sealingKey }: Services, { user_id, email }: Owner) {
  const secret = createTotpSecret()
  const isStarted = await insertTotp(sql, user_id, sealTotpSecret(sealingKey, user_id, secret), clock.now())
  if (!isStarted) throw totpEnabled()
  return { secret, uri: formatTotpUri(secret, email) }
}

/**
 * Turns TOTP on, with a code of the enrolled app. Returns the recovery codes. Throws 409
 * `totp_not_started`, 401 `invalid_code` and 429 `rate_limited`.
 */
export async function confirmEnrolment(services: Services, { user_id }: Owner, code: string): Promise<string[]> {
  const { sql, clock, sealingKey } = services
  const totp = await findTotp(sql, user_id)
  if (!totp || totp.confirmed_at) throw totpNotStarted()
  await reserveAttempt(services, getCodeLimit(user_id))
  const now = clock.now()
  const step = verifyTotpCode(openTotpSecret(sealingKey, user_id, totp.sealed_secret), code, now)
  if (step === null) throw invalidCode()
  await removeAttempts(services, getCodeLimit(user_id))
  return sql.begin(async (tx) => {
    if (!(await updateTotpConfirmed(tx, user_id, { ...totp, step }, now))) throw totpNotStarted()
    await audit(tx, user_id, 'totp.enable', now)
    return storeRecoveryCodes(tx, user_id, now)
  })
}

/** Turns TOTP off and ends all other sessions. Throws 409 `totp_not_enabled`. */
export async function removeTotp({ sql, clock }: Services, { id, user_id }: Owner): Promise<void> {
  const now = clock.now()
  await sql.begin(async (tx) => {
    await lockUser(tx, user_id)
    if (!(await deleteTotp(tx, user_id))) throw totpNotEnabled()
    await updateSessionEnds(tx, user_id, id, now)
    await audit(tx, user_id, 'totp.disable', now)
  })
}

/** Replaces the recovery codes. Throws 409 `totp_not_enabled`. */
export async function rotateRecoveryCodes({ sql, clock }: Services, { user_id }: Owner): Promise<string[]> {
  const now = clock.now()
  return sql.begin(async (tx) => {
    await lockUser(tx, user_id)
    const totp = await findTotp(tx, user_id)
    if (!totp?.confirmed_at) throw totpNotEnabled()
    await audit(tx, user_id, 'recovery_codes.create', now)
    return storeRecoveryCodes(tx, user_id, now)
  })
}

type Transaction = Parameters<typeof auditPerson>[0]

async function storeRecoveryCodes(tx: Transaction, userId: string, now: Date): Promise<string[]> {
  const codes = createRecoveryCodes()
  await updateRecoveryCodes(tx, userId, codes.map(hashRecoveryCode), now)
  return codes
}

function audit(tx: Transaction, userId: string, action: string, now: Date): Promise<void> {
  return auditPerson(tx, userId, { action, object: { type: 'user', id: userId } }, now)
}
