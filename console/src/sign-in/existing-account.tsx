import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAttempt } from '../actions/use-attempt.ts'
import { client } from '../api/client.ts'
import { sessionQuery } from '../api/session.ts'
import { FormProblem } from '../page/form-problem.tsx'
import { LineSkeleton } from '../page/query-view.tsx'
import { keepLinkToken, type Link } from './link.ts'

type ExistingAccountProps = { link: Link; token: string; onAccepted: (organization: string | null) => void }

/** Whoever has an account signs in to it before they join another organization. */
export function ExistingAccount({ link, token, onAccepted }: ExistingAccountProps) {
  const { data, isPending } = useQuery({ ...sessionQuery, retry: false, meta: { mayBeSignedOut: true } })
  const { isBusy, problem, run } = useAttempt()
  const user = data?.data.user
  if (isPending) return <LineSkeleton lines={2} />
  if (user === undefined)
    return (
      <Stack>
        <Text size="sm">You have an account with this email address. Sign in to join.</Text>
        <SignInButton token={token}>Sign in to join</SignInButton>
      </Stack>
    )
  if (user.email !== link.email)
    return (
      <Stack>
        <Text size="sm" role="alert">
          You are signed in as {user.email}. The invitation is for {link.email}.
        </Text>
        <SignInButton token={token}>Sign in as {link.email}</SignInButton>
      </Stack>
    )
  const join = async () => {
    const accepted = await client.POST('/app/api/links/accept', { body: { token } })
    if (accepted.data) onAccepted(accepted.data.data.organization)
  }
  return (
    <Stack>
      <Text size="sm">
        You are signed in as {user.name} ({user.email}).
      </Text>
      <FormProblem problem={problem} />
      <Button loading={isBusy} onClick={() => run(join)}>
        Join {link.organization?.name}
      </Button>
    </Stack>
  )
}

function SignInButton({ token, children }: { token: string; children: ReactNode }) {
  const navigate = useNavigate()
  const signIn = () => {
    keepLinkToken(token)
    void navigate({ to: '/sign-in', search: { next: '/join' } })
  }
  return <Button onClick={signIn}>{children}</Button>
}
