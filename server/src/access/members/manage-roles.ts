import { insertAuditEntry } from '../../audit/audit.store.ts'
import { ownMembership, roleBuiltIn, roleInUse, roleNameTaken, tooManyRoles } from '../../errors/organizations.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../platform/ids.ts'
import { isDisplayName } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import {
  CUSTOM_ROLES_MAX,
  type CustomRole,
  countBuiltInRoles,
  deleteCustomRole,
  findCustomRole,
  listCustomRoles,
  upsertCustomRole,
} from '../role.store.ts'
import { BUILT_IN_ROLE_IDS, getBuiltInRole, isBuiltIn, PERMISSIONS, type Permission } from '../role.ts'
import { type Author, lockMembers, requireCovers } from './author.ts'
import { findMember } from './member.store.ts'

type Needs = Pick<Services, 'sql' | 'clock'>
type Writer = { orgId: string; author: Author }

/** What a request says about a role. On a change, absent fields stay. */
type RoleFields = { name?: string | undefined; permissions?: readonly Permission[] | undefined }

/**
 * The built-in roles in their order, then the custom roles by name, with their number of members.
 */
export async function listRoles({ sql }: Pick<Services, 'sql'>, orgId: string) {
  const [counts, custom] = await Promise.all([countBuiltInRoles(sql, orgId), listCustomRoles(sql, orgId)])
  const builtIn = BUILT_IN_ROLE_IDS.map((id) => ({
    ...getBuiltInRole(id),
    created_at: null,
    updated_at: null,
    members: counts.get(id) ?? 0,
  }))
  return [...builtIn, ...custom]
}

/** One role as `listRoles` has it. Throws 404. */
export async function findListedRole(services: Pick<Services, 'sql'>, orgId: string, id: string) {
  const role = (await listRoles(services, orgId)).find((listed) => listed.id === id)
  if (role === undefined) throw createNotFoundError('role')
  return role
}

/**
 * Creates a custom role. Throws 403 `insufficient_permission` for a permission that the author
 * lacks, and 409 `role_name_taken` or `too_many_roles`.
 */
export async function createRole({ sql, clock }: Needs, { orgId, author }: Writer, fields: Required<RoleFields>) {
  return sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    const [now, permissions] = [clock.now(), inOrder(fields.permissions as Permission[])]
    requireCovers(held, permissions)
    if ((await listCustomRoles(tx, orgId)).length >= CUSTOM_ROLES_MAX) throw tooManyRoles(CUSTOM_ROLES_MAX)
    const role = { id: createUuid(now), name: requireRoleName(fields.name as string), permissions }
    await write(tx, orgId, role, now)
    await record(tx, { orgId, author }, { action: 'role.create', id: role.id, details: role }, now)
    return { ...role, built_in: false, created_at: now, updated_at: now, members: 0 }
  })
}

/**
 * Changes a custom role. Throws as `createRole` does, 404, 409 `role_built_in`, and 403
 * `own_membership` for the role of the author.
 */
export async function updateRole({ sql, clock }: Needs, { orgId, author }: Writer, id: string, fields: RoleFields) {
  return sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    const role = await requireCustomRole(tx, orgId, id)
    const permissions = fields.permissions ? inOrder(fields.permissions) : role.permissions
    requireCovers(held, [...role.permissions, ...permissions])
    await refuseOwnRole(tx, { orgId, author }, id)
    const now = clock.now()
    const changed = { id, name: fields.name === undefined ? role.name : requireRoleName(fields.name), permissions }
    await write(tx, orgId, changed, now)
    const details = { from: { name: role.name, permissions: role.permissions }, to: changed }
    await record(tx, { orgId, author }, { action: 'role.update', id, details }, now)
    return { ...role, ...changed, updated_at: now }
  })
}

/** Deletes a custom role. Throws as `updateRole` does, and 409 `role_in_use`. */
export async function deleteRole({ sql, clock }: Needs, { orgId, author }: Writer, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    const role = await requireCustomRole(tx, orgId, id)
    requireCovers(held, role.permissions)
    const now = clock.now()
    if (!(await deleteCustomRole(tx, orgId, id, now))) throw roleInUse()
    const details = { name: role.name, permissions: role.permissions }
    await record(tx, { orgId, author }, { action: 'role.delete', id, details }, now)
  })
}

async function requireCustomRole(tx: Tx, orgId: string, id: string): Promise<CustomRole> {
  if (isBuiltIn(id)) throw roleBuiltIn()
  const role = isUuid(id) ? await findCustomRole(tx, orgId, id) : null
  if (role === null) throw createNotFoundError('role')
  return role
}

async function refuseOwnRole(tx: Tx, { orgId, author }: Writer, id: string): Promise<void> {
  if (author.userId === null) return
  const member = await findMember(tx, orgId, author.userId)
  if (member?.custom_role_id !== id) return
  throw ownMembership('role')
}

async function write(tx: Tx, orgId: string, role: Parameters<typeof upsertCustomRole>[2], now: Date): Promise<void> {
  const isBuiltInName = BUILT_IN_ROLE_IDS.some(
    (id) => getBuiltInRole(id).name.toLowerCase() === role.name.toLowerCase(),
  )
  if (!isBuiltInName && (await upsertCustomRole(tx, orgId, role, now))) return
  throw roleNameTaken(role.name)
}

const NAME_CHARS_MAX = 100

function requireRoleName(name: string): string {
  const trimmed = name.trim()
  if (isDisplayName(trimmed, NAME_CHARS_MAX)) return trimmed
  throw createInvalidFieldError('/body/name', `must have 1 to ${NAME_CHARS_MAX} characters, and no control characters`)
}

/** Without repetitions, in the order in which permissions are listed. */
function inOrder(permissions: readonly Permission[]): Permission[] {
  return PERMISSIONS.filter((permission) => permissions.includes(permission))
}

type Recorded = { action: string; id: string; details: Record<string, unknown> }

async function record(tx: Tx, { orgId, author }: Writer, { action, id, details }: Recorded, now: Date): Promise<void> {
  const entry = { principal: author.principal, action, object: { type: 'role', id }, reason: null, details }
  await insertAuditEntry(tx, orgId, entry, now)
}
