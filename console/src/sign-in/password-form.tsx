import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useAttempt } from '../actions/use-attempt.ts'
import { asApiError } from '../api/api-error.ts'
import { client } from '../api/client.ts'
import { FormProblem } from '../page/form-problem.tsx'
import type { Account } from './code-form.tsx'

type PasswordFormProps = { onSignedIn: () => void; onCodeNeeded: (account: Account) => void }

export function PasswordForm({ onSignedIn, onCodeNeeded }: PasswordFormProps) {
  const { isBusy, problem, run } = useAttempt()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const account = { email: String(form.get('email')).trim(), password: String(form.get('password')) }
    run(async () => {
      try {
        await client.POST('/app/api/sign-in/password', { body: account })
      } catch (error) {
        if (asApiError(error)?.code !== 'totp_required') throw error
        return onCodeNeeded(account)
      }
      onSignedIn()
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <FormProblem problem={problem} />
        <TextInput label="Email address" name="email" type="email" autoComplete="username" required autoFocus />
        <PasswordInput label="Password" name="password" autoComplete="current-password" required />
        <Button type="submit" loading={isBusy}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
