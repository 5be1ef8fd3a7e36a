import { BUILT_IN_ROLE_IDS, BUILT_IN_ROLES, type BuiltInRoleId } from './built-in-role.ts'
import type { Permission } from './permission.ts'

/** A role that members can have. The id is that of a built-in role, or a UUID. */
export type Role = { id: string; name: string; built_in: boolean; permissions: readonly Permission[] }

/** A role as tables store it. */
export type StoredRole = { built_in_role: BuiltInRoleId | null; custom_role_id: string | null }

export function toStoredRole({ id }: Pick<Role, 'id'>): StoredRole {
  return isBuiltIn(id) ? { built_in_role: id, custom_role_id: null } : { built_in_role: null, custom_role_id: id }
}

export function isBuiltIn(id: string): id is BuiltInRoleId {
  return BUILT_IN_ROLE_IDS.some((known) => known === id)
}

export function getBuiltInRole(id: BuiltInRoleId): Role {
  return { id, built_in: true, ...BUILT_IN_ROLES[id] }
}

export function getRoleId({ built_in_role, custom_role_id }: StoredRole): string {
  return (built_in_role ?? custom_role_id) as string
}
