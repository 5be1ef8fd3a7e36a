import { Divider, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { FormProblem } from '../page/form-problem.tsx'
import { type Account, CodeForm } from './code-form.tsx'
import { useEnterConsole } from './enter-console.ts'
import { Entrance } from './entrance.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { PasswordForm } from './password-form.tsx'
import { SingleSignOn } from './single-sign-on.tsx'
import { describeSingleSignOnError } from './single-sign-on-errors.ts'

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
