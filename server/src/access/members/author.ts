import { COMMAND_LINE, type Principal } from '../../audit/audit.store.ts'
import { insufficientPermission } from '../../errors/organizations.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { type Actor, toAuthor as authorWithReason, toPrincipal } from '../actor.ts'
import { PERMISSIONS, type Permission } from '../role.ts'
import type { Grantor } from '../scopes.ts'
import { findMember, lockOrganization } from './member.store.ts'

/** Who changes members and roles: a person, or an administrator at the command line. */
export type Author = { principal: Principal; userId: string | null }

export const COMMAND_LINE_AUTHOR: Author = { principal: COMMAND_LINE, userId: null }

export function toMemberAuthor(actor: Actor): Author {
  return { principal: toPrincipal(actor), userId: actor.credential.id }
}

/**
 * Locks the members of an organization, and returns the permissions that the author has now: the
 * role may have changed since the request was admitted. The command line has all permissions.
 * Throws 403 `insufficient_permission`.
 */
export async function lockMembers(tx: Tx, orgId: string, { userId }: Author): Promise<readonly Permission[]> {
  await lockOrganization(tx, orgId)
  if (userId === null) return PERMISSIONS
  const held = await findPermissions(tx, orgId, userId)
  requireCovers(held, ['manage_members'])
  return held
}

/** A person can give to a credential what their own role allows when it is created. */
export function toGrantor(actor: Actor, request: { reason?: string | null }): Grantor {
  const { org_id, credential } = actor
  return {
    ...authorWithReason(actor, request),
    async holdPermissions(tx) {
      await lockOrganization(tx, org_id)
      return findPermissions(tx, org_id, credential.id)
    },
  }
}

/** The permissions of a user in an organization. Empty unless they are an active member. */
export async function findPermissions(db: Db, orgId: string, userId: string): Promise<readonly Permission[]> {
  const member = await findMember(db, orgId, userId)
  return member?.is_active ? member.permissions : []
}

export function hasPermissions(held: readonly Permission[], needed: readonly Permission[]): boolean {
  return needed.every((permission) => held.includes(permission))
}

/**
 * Nobody gives a permission that they lack, or acts on a member who has one. Throws 403
 * `insufficient_permission`.
 */
export function requireCovers(held: readonly Permission[], needed: readonly Permission[]): void {
  const missing = needed.find((permission) => !held.includes(permission))
  if (missing === undefined) return
  const message = `This action requires the permission ${missing}, which your role does not have.`
  throw insufficientPermission(message, { requiredPermission: missing })
}
