import { type Db, getSqlState, type Tx, UNIQUE_VIOLATION } from '../platform/db/sql.ts'
import { isUuid } from '../platform/ids.ts'
import { getBuiltInRole, isBuiltIn, type Permission, type Role } from './role.ts'

/** Finds a built-in or custom role of an organization. */
export async function findRole(db: Db, orgId: string, id: string): Promise<Role | null> {
  if (isBuiltIn(id)) return getBuiltInRole(id)
  return isUuid(id) ? findCustomRole(db, orgId, id) : null
}

/** A custom role with its times. */
export type CustomRole = Role & { created_at: Date; updated_at: Date }

export async function findCustomRole(db: Db, orgId: string, id: string): Promise<CustomRole | null> {
  const [row] = await db<CustomRole[]>`
    select id, name, false as built_in, permissions, created_at, updated_at
    from custom_roles
    where org_id = ${orgId}
      and id = ${id}`
  return row ?? null
}

/** Custom roles per organization. */
export const CUSTOM_ROLES_MAX = 200

/** A role with the number of members who have it. */
type CountedRole = CustomRole & { members: number }

/** The custom roles by name. */
export async function listCustomRoles(db: Db, orgId: string): Promise<CountedRole[]> {
  return db<CountedRole[]>`
    select role.id, role.name, false as built_in, role.permissions, role.created_at, role.updated_at,
      (
        select count(*)
        from members member
        where member.org_id = role.org_id
          and member.custom_role_id = role.id
      ) as members
    from custom_roles role
    where role.org_id = ${orgId}
    order by lower(role.name)
    limit ${CUSTOM_ROLES_MAX}`
}

/** How many members have each built-in role. */
export async function countBuiltInRoles(db: Db, orgId: string): Promise<Map<string, number>> {
  const rows = await db<{ built_in_role: string; members: number }[]>`
    select built_in_role, count(*) as members
    from members
    where org_id = ${orgId}
      and built_in_role is not null
    group by built_in_role`
  return new Map(rows.map(({ built_in_role, members }) => [built_in_role, members]))
}

type WrittenRole = { id: string; name: string; permissions: readonly Permission[] }

/** Creates or changes a custom role. Returns false if another role has the name. */
export async function upsertCustomRole(tx: Tx, orgId: string, role: WrittenRole, at: Date): Promise<boolean> {
  try {
    await tx.savepoint(
      (savepoint) => savepoint`
        insert into custom_roles (org_id, id, name, permissions, created_at, updated_at)
        values (${orgId}, ${role.id}, ${role.name}, ${[...role.permissions]}, ${at}, ${at})
        on conflict (org_id, id) do update
        set name = excluded.name, permissions = excluded.permissions, updated_at = excluded.updated_at`,
    )
    return true
  } catch (error) {
    if (getSqlState(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/**
 * Deletes a custom role and its closed invitations. Returns false, and deletes nothing, if a member
 * or an open invitation has the role. Requires the lock of the members.
 */
export async function deleteCustomRole(tx: Tx, orgId: string, id: string, now: Date): Promise<boolean> {
  const [{ in_use }] = await tx<[{ in_use: boolean }]>`
    select
      exists (
        select
        from members
        where org_id = ${orgId}
          and custom_role_id = ${id}
      )
      or exists (
        select
        from links
        where org_id = ${orgId}
          and custom_role_id = ${id}
          and closed_at is null
          and expires_at > ${now}
      ) as in_use`
  if (in_use) return false
  await tx`
    delete from links
    where org_id = ${orgId}
      and custom_role_id = ${id}`
  await tx`
    delete from custom_roles
    where org_id = ${orgId}
      and id = ${id}`
  return true
}
