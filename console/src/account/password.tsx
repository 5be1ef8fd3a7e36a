import { Button, PasswordInput, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { NewPasswordInput } from '../actions/new-password-input.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { useAttempt } from '../actions/use-attempt.ts'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { FormProblem } from '../page/form-problem.tsx'
import { AccountSection } from './account-section.tsx'

export function Password() {
  const { user, sign_in_methods: methods } = useSession()
  const { mutateAsync: changePassword } = useApiMutation('put', '/app/api/account/password', ['account'])
  const { isBusy, problem, run } = useAttempt()
  const [changes, setChanges] = useState(0)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const current = form.get('current_password')?.toString()
    const body = { new_password: String(form.get('new_password')), ...(current && { current_password: current }) }
    run(async () => {
      await changePassword({ body })
      setChanges(changes + 1)
      notifyDone(methods.password ? 'Your password was changed.' : 'Your password was set.')
    })
  }
  const verb = methods.password ? 'Change password' : 'Set password'
  return (
    <AccountSection
      id="password"
      title="Password"
      description={
        methods.password
          ? 'A change signs you out everywhere else.'
          : 'You have no password: you sign in with a passkey or with single sign-on.'
      }
    >
      <form key={changes} onSubmit={submit}>
        <Stack align="stretch" maw={400}>
          <FormProblem problem={problem} />
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          {methods.password && (
            <PasswordInput label="Current password" name="current_password" autoComplete="current-password" required />
          )}
          <NewPasswordInput label="New password" />
          <Button type="submit" variant="default" loading={isBusy} style={{ alignSelf: 'flex-start' }}>
            {verb}
          </Button>
        </Stack>
      </form>
    </AccountSection>
  )
}
