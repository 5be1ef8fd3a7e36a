import { Checkbox, Stack, Text } from '@mantine/core'
import { useOrganization } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/permission-names.ts'
import { SCOPE_GROUPS } from './scopes.ts'

type ScopeChoiceProps = {
  value?: string[]
  onChange?: (scopes: string[]) => void
  error?: React.ReactNode
}

/** The scopes of a key with their meaning. Nobody can give what their role does not permit. */
export function ScopeChoice({ value, onChange, error }: ScopeChoiceProps) {
  const { permissions } = useOrganization()
  return (
    <Checkbox.Group
      label="Scopes"
      description="What the key can do. Give it only what its program needs."
      value={value}
      onChange={onChange}
      error={error}
      data-path="scopes"
      tabIndex={-1}
    >
      <Stack gap="sm" my="xs">
        {SCOPE_GROUPS.map(({ title, scopes }) => (
          <Stack key={title} gap={6}>
            <Text size="xs" c="dimmed" fw={500}>
              {title}
            </Text>
            {scopes.map(({ scope, about, permission }) => {
              const isAllowed = permissions.includes(permission)
              const lacks = `You cannot give this: it needs the permission “${PERMISSION_NAMES[permission]}”.`
              return (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={scope}
                  description={isAllowed ? about : lacks}
                  disabled={!isAllowed}
                />
              )
            })}
          </Stack>
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
