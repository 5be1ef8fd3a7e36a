import { linkNotValid } from '../../errors/organizations.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findPermissions, hasPermissions } from '../members/author.ts'
import { hasActiveAdmin } from '../members/member.store.ts'
import { findRole } from '../roles/role.store.ts'
import { getRoleId, type Role } from '../roles/role.ts'
import { findUser, findUserByEmail, type User } from '../users/user.store.ts'
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
