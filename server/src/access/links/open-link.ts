import { linkNotValid } from '../../errors/organizations.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { findPermissions, hasPermissions } from '../members/author.ts'
import { hasActiveAdmin } from '../members/member.store.ts'
import { findRole } from '../role.store.ts'
import { getRoleId, type Role } from '../role.ts'
import { createPasskeyOptions } from '../sign-in/manage-passkeys.ts'
import { findUser, findUserByEmail, type User } from '../user.store.ts'
import { toEmail } from '../user.ts'
import { findOpenLink, type Link } from './link.store.ts'
import { hashLinkToken, isLinkToken } from './link.ts'

/**
 * A link that can be used now, with its role, and with the account that it is about, if it exists.
 */
export type OpenLink = Link & { role: Role | null; user: User | null }

/** Returns the link of a token. Throws 410 `link_not_valid`. */
export async function openLink(db: Db, token: string, now: Date): Promise<OpenLink> {
  const link = isLinkToken(token) ? await findOpenLink(db, hashLinkToken(token), now) : null
  if (link === null) throw linkNotValid()
  const { org_id, email, user_id } = link
  const role = org_id === null ? null : await findRole(db, org_id, getRoleId(link))
  if (org_id !== null && (role === null || !(await isAllowed(db, org_id, link, role)))) throw linkNotValid()
  const user = user_id ? await findUser(db, user_id) : email ? await findUserByEmail(db, email) : null
  return { ...link, role, user }
}

/**
 * A setup link makes only the first Org admin. An invitation is valid while the person who made it
 * could still make it.
 */
async function isAllowed(db: Db, orgId: string, { kind, created_by_user_id }: Link, role: Role): Promise<boolean> {
  if (kind === 'setup') return !(await hasActiveAdmin(db, orgId))
  if (created_by_user_id === null) return true
  return hasPermissions(await findPermissions(db, orgId, created_by_user_id), ['manage_members', ...role.permissions])
}

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

type Request = { token: string; email?: string | undefined; name?: string | undefined }

/**
 * Options for the passkey of a new account, which gets the id of the link, or of an account that is
 * reset. Throws 410 `link_not_valid`.
 */
export async function createLinkPasskeyOptions(services: Services, request: Request) {
  const link = await openLink(services.sql, request.token, services.clock.now())
  const email = link.email ?? link.user?.email ?? toEmail(request.email ?? '')
  if (email === null) throw createInvalidFieldError('/body/email', 'is required')
  const userId = link.kind === 'reset' ? (link.user?.id as string) : link.id
  return createPasskeyOptions(services, { userId, email, name: link.user?.name ?? request.name ?? email })
}
