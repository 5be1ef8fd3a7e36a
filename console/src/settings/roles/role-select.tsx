import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useOrganization } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/permission-names.ts'
import { lackingPermissions, useRoles } from './role-query.ts'

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
