import { Group, PasswordInput, Text } from '@mantine/core'
import { IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { useState } from 'react'

export const PASSWORD_CHARS_MIN = 12
const PASSWORD_CHARS_MAX = 200

/** A field for a new password (`name="new_password"`), with the rules that the server checks. */
export function NewPasswordInput({ label }: { label: string }) {
  const [length, setLength] = useState(0)
  const isLongEnough = length >= PASSWORD_CHARS_MIN
  const Icon = isLongEnough ? IconCircleCheck : IconCircle
  return (
    <PasswordInput
      label={label}
      name="new_password"
      autoComplete="new-password"
      minLength={PASSWORD_CHARS_MIN}
      maxLength={PASSWORD_CHARS_MAX}
      required
      onChange={({ currentTarget }) => setLength([...currentTarget.value].length)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      descriptionProps={{ component: 'div' }}
      description={
        <>
          <Group gap={6} wrap="nowrap" c={isLongEnough ? 'var(--shiplock-success)' : undefined}>
            <Icon size={14} aria-hidden />
            <Text span size="xs">
              At least {PASSWORD_CHARS_MIN} characters{isLongEnough ? ': done' : ''}
            </Text>
          </Group>
          <Text size="xs">
            A few unrelated words are good. Your name, your email address and common passwords are not.
          </Text>
        </>
      }
    />
  )
}
