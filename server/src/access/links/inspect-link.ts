import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { getChallengeLimit } from '../sign-in/attempt-limit.ts'
import { createPasskeyOptions } from '../sign-in/register-passkey.ts'
import { reserveAttempt } from '../sign-in/take-attempt.ts'
import { toEmail } from '../users/email-address.ts'
import { openLink } from './open-link.ts'

/** What a link does, for the person who holds it. Throws 410 `link_not_valid`. */
export async function describeLink({ sql, clock }: Pick<Services, 'sql' | 'clock'>, token: string) {
  const { kind, organization, email, role, user, expires_at } = await openLink(sql, token, clock.now())
  return {
    kind,
    organization,
    email: email ?? user?.email ?? null,
    role: role?.id ?? null,
    role_name: role?.name ?? null,
    account_exists: user !== null,
    expires_at,
  }
}

type Request = { token: string; email?: string | undefined; name?: string | undefined; address: string }

/**
 * Options for the passkey of a new account, which gets the id of the link, or of an account that is
 * reset. Throws 410 `link_not_valid` and 429 `rate_limited`.
 */
export async function createLinkPasskeyOptions(services: Services, request: Request) {
  await reserveAttempt(services, getChallengeLimit(request.address))
  const link = await openLink(services.sql, request.token, services.clock.now())
  const email = link.email ?? link.user?.email ?? toEmail(request.email ?? '')
  if (email === null) throw createInvalidFieldError('/body/email', 'is required')
  const userId = link.kind === 'reset' ? (link.user?.id as string) : link.id
  return createPasskeyOptions(services, { userId, email, name: link.user?.name ?? request.name ?? email })
}
