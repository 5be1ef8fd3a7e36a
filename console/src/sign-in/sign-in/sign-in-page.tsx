import { Button, Divider, Group, PasswordInput, Stack, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { FormProblem, useAttempt } from '../../actions/attempt.tsx'
import { describeSingleSignOnError } from '../../actions/single-sign-on-error.ts'
import { asApiError } from '../../api/api-error.ts'
import { client } from '../../api/client.ts'
import { useEnterConsole } from '../frame/enter-console.ts'
import { Entrance, PasskeyButton } from '../frame/entrance.tsx'
import { SingleSignOn } from './single-sign-on.tsx'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { next, org, error, reason } = route.useSearch()
  const [account, setAccount] = useState<Account | null>(null)
  const enter = useEnterConsole()
  const onSignedIn = () => enter(next)
  if (account !== null) return <CodeForm account={account} onSignedIn={onSignedIn} onCancel={() => setAccount(null)} />
  return (
    <Entrance title="Sign in to Shiplock">
      <Stack>
        <FormProblem problem={describeSingleSignOnError(error, reason)} />
        <PasswordForm onSignedIn={onSignedIn} onCodeNeeded={setAccount} />
        <Divider label="or" />
        <PasskeyButton onSignedIn={onSignedIn} />
        <SingleSignOn org={org ?? organizationOf(next)} next={next} />
      </Stack>
    </Entrance>
  )
}

/** Whoever was sent here from the page of an organization may sign in with its provider. */
function organizationOf(next: string | undefined): string | undefined {
  return /^\/orgs\/([a-z0-9][a-z0-9-]{0,62})(?:[/?#]|$)/.exec(next ?? '')?.[1]
}

type PasswordFormProps = { onSignedIn: () => void; onCodeNeeded: (account: Account) => void }

function PasswordForm({ onSignedIn, onCodeNeeded }: PasswordFormProps) {
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

/** An account whose password was right, and that also needs a code. */
type Account = { email: string; password: string }

type CodeFormProps = { account: Account; onSignedIn: () => void; onCancel: () => void }

/** The second step of a sign-in by password: a code of the authenticator app, or a recovery code. */
function CodeForm({ account, onSignedIn, onCancel }: CodeFormProps) {
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
