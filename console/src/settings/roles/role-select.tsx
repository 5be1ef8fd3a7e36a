import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Permission, useOrganization } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { rolesQuery } from '../frame/queries.ts'

export const ROLES_PATH = '/app/api/orgs/{org}/roles'

type RoleSelectProps = NativeSelectProps & {
  value?: string
  /** The first choice, for no role. */
  none?: string
}

/** A role, with what it permits. Roles that the person may not give cannot be chosen. */
export function RoleSelect({ value, none, ...props }: RoleSelectProps) {
  const { permissions: own } = useOrganization()
  const roles = useRoles().data?.data ?? []
  const chosen = roles.find(({ id }) => id === value)
  const names = chosen?.permissions.map((permission) => PERMISSION_NAMES[permission])
  return (
    <NativeSelect
      label="Role"
      description={names && (names.length === 0 ? 'Permits nothing.' : `Permits: ${names.join(', ')}.`)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={value}
      data={[
        ...(none === undefined ? [] : [{ value: '', label: none }]),
        ...roles.map((role) => ({
          value: role.id,
          label: role.name,
          disabled: lackingPermissions(role, own).length > 0,
        })),
      ]}
      {...props}
    />
  )
}

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
