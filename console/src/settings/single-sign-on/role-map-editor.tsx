import { ActionIcon, Button, Group, Input, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { useOrganization } from '../../api/session.ts'
import { lackingPermissions, useRoles } from '../roles/role-query.ts'
import type { SsoValues } from './provider-settings.ts'

/** Which value of the claim gives which role. The first row that fits decides. */
export function RoleMapEditor({ form }: { form: UseFormReturnType<SsoValues> }) {
  const { permissions: own } = useOrganization()
  const roles = (useRoles().data?.data ?? []).map((role) => ({
    value: role.id,
    label: role.name,
    disabled: lackingPermissions(role, own).length > 0,
  }))
  const rows = form.values.role_map
  return (
    <Input.Wrapper
      label="Role map"
      labelElement="div"
      description="Values of the claim and the role that each gives. The first row that fits decides, at each sign-in again."
      error={form.errors.role_map}
    >
      <Stack gap="xs" mt="xs">
        {rows.map((_, row) => (
          <Group key={row} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Value ${row + 1}`}
              placeholder="release-team"
              flex={1}
              miw={0}
              {...form.getInputProps(`role_map.${row}.value`)}
            />
            <NativeSelect
              aria-label={`Role of value ${row + 1}`}
              flex={1}
              miw={0}
              data={roles}
              {...form.getInputProps(`role_map.${row}.role`)}
            />
            <ActionIcon
              variant="default"
              size="input-sm"
              disabled={row === 0}
              onClick={() => form.reorderListItem('role_map', { from: row, to: row - 1 })}
              aria-label={`Move value ${row + 1} up`}
            >
              <IconArrowUp size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon
              variant="default"
              size="input-sm"
              onClick={() => form.removeListItem('role_map', row)}
              aria-label={`Remove value ${row + 1}`}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {rows.length === 0 && (
          <Text size="sm" c="dimmed">
            No values. Everybody gets the default role at the first sign-in.
          </Text>
        )}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => form.insertListItem('role_map', { value: '', role: 'viewer' })}
          >
            Add value
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  )
}
