import { useQuery } from '@tanstack/react-query'
import { type Permission, useOrganization } from '../../api/session.ts'
import { rolesQuery } from '../routes.ts'

export const ROLES_PATH = '/app/api/orgs/{org}/roles'
export type Role = NonNullable<ReturnType<typeof useRoles>['data']>['data'][number]

/** The built-in roles, then the custom ones by name. */
export function useRoles() {
  const { slug: org } = useOrganization()
  return useQuery(rolesQuery(org))
}

/** The permissions of a role that somebody lacks. Nobody gives what they do not have. */
export function lackingPermissions(role: { permissions: Permission[] }, own: Permission[]): Permission[] {
  return role.permissions.filter((permission) => !own.includes(permission))
}
