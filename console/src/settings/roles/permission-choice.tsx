import { Checkbox, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useOrganization } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/permission-names.ts'
import { PERMISSION_TEXTS, PERMISSIONS } from './permission-texts.ts'

type PermissionChoiceProps = {
  value?: string[]
  onChange?: (permissions: string[]) => void
  error?: ReactNode
}

/** The permissions of a role with their meaning. Nobody can give one that they lack. */
export function PermissionChoice({ value, onChange, error }: PermissionChoiceProps) {
  const { permissions: own } = useOrganization()
  return (
    <Checkbox.Group
      label="Permissions"
      value={value}
      onChange={onChange}
      error={error}
      data-path="permissions"
      tabIndex={-1}
    >
      <Stack gap="xs" my="xs">
        {PERMISSIONS.map((permission) => (
          <Checkbox
            key={permission}
            value={permission}
            label={PERMISSION_NAMES[permission]}
            description={
              own.includes(permission)
                ? PERMISSION_TEXTS[permission]
                : 'You cannot give this, because your role does not have it.'
            }
            disabled={!own.includes(permission)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
