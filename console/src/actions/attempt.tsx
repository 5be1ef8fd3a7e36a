import { Alert, Group, PasswordInput, Text } from '@mantine/core'
import { IconAlertCircle, IconCircle, IconCircleCheck } from '@tabler/icons-react'
import { useState } from 'react'
import { describePasskeyProblem } from './passkeys.ts'

const PASSWORD_CHARS_MIN = 12
const PASSWORD_CHARS_MAX = 200

/** Work that a form does, with what went wrong the last time. */
type Attempt = {
  isBusy: boolean
  problem: string | null
  /** Does the work. One attempt at a time. */
  run: (work: () => Promise<unknown>) => Promise<void>
}

/** For forms that show a failure in themselves, and not as a notification. */
export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await work()
    } catch (error) {
      setProblem(describePasskeyProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}

/** Why a form was not accepted. Announced when it appears. */
export function FormProblem({ problem }: { problem: string | null }) {
  if (problem === null) return null
  return (
    <Alert color="red" variant="light" icon={<IconAlertCircle aria-hidden />} role="alert" p="sm">
      {problem}
    </Alert>
  )
}

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
