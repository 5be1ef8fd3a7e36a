import { Button, Group, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useAttempt } from '../actions/use-attempt.ts'
import { client } from '../api/client.ts'
import { FormProblem } from '../page/form-problem.tsx'
import { Entrance } from './entrance.tsx'

/** An account whose password was right, and that also needs a code. */
export type Account = { email: string; password: string }

type CodeFormProps = { account: Account; onSignedIn: () => void; onCancel: () => void }

/** The second step of a sign-in by password: a code of the authenticator app, or a recovery code. */
export function CodeForm({ account, onSignedIn, onCancel }: CodeFormProps) {
  const [isRecovery, setRecovery] = useState(false)
  const { isBusy, problem, run } = useAttempt()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const code = String(new FormData(event.currentTarget).get('code')).trim()
    const body = { ...account, ...(isRecovery ? { recovery_code: code } : { totp_code: code.replaceAll(' ', '') }) }
    run(async () => {
      await client.POST('/app/api/sign-in/password', { body })
      onSignedIn()
    })
  }
  return (
    <Entrance title="Enter your code" about={`Signing in as ${account.email}.`}>
      <form onSubmit={submit}>
        <Stack>
          <FormProblem problem={problem} />
          {isRecovery ? (
            <TextInput
              key="recovery"
              label="Recovery code"
              description="One of the codes that you saved when you turned two-factor authentication on. It works once."
              name="code"
              autoComplete="off"
              maxLength={50}
              required
              autoFocus
            />
          ) : (
            <TextInput
              key="totp"
              label="Code of your authenticator app"
              description="Six digits. The app shows a new code every 30 seconds."
              name="code"
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={20}
              required
              autoFocus
            />
          )}
          <Button type="submit" loading={isBusy}>
            Sign in
          </Button>
          <Group justify="space-between">
            <Button variant="subtle" size="compact-sm" onClick={() => setRecovery(!isRecovery)}>
              {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
            </Button>
            <Button variant="subtle" size="compact-sm" color="gray" onClick={onCancel}>
              Back
            </Button>
          </Group>
        </Stack>
      </form>
    </Entrance>
  )
}
