import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { FormProblem, useAttempt } from '../../actions/attempt.tsx'
import { asApiError } from '../../api/api-error.ts'
import { client } from '../../api/client.ts'
import { sessionQuery } from '../../api/session.ts'
import { pages } from '../../page/pages.ts'
import { LineSkeleton, Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { useEnterConsole } from '../frame/enter-console.ts'
import { Entrance } from '../frame/entrance.tsx'
import { forgetLinkToken, inspectLink, keepLinkToken, type Link, readLinkToken } from './link.ts'
import { NewAccountForm } from './new-account-form.tsx'

/** The page that a link opens: it says what the link does before anything is entered. */
export function JoinPage() {
  const [token] = useState(readLinkToken)
  const enter = useEnterConsole()
  const router = useRouter()
  const {
    data: link,
    error,
    refetch,
  } = useQuery({ queryKey: ['link', token], queryFn: () => inspectLink(token), retry: 1 })
  const onAccepted = (organization: string | null) => {
    forgetLinkToken()
    enter(organization === null ? '/' : router.buildLocation(pages.home(organization)).href)
  }
  if (error !== null) return <UnusableLink error={error} retry={refetch} />
  if (link === undefined)
    return (
      <Entrance title="Open a link">
        <LineSkeleton lines={5} />
      </Entrance>
    )
  const { title, about } = describe(link)
  return (
    <Entrance
      title={title}
      about={
        <>
          {about} The link can be used once, and expires <Time at={link.expires_at} />.
        </>
      }
    >
      {link.kind === 'invitation' && link.account_exists ? (
        <ExistingAccount link={link} token={token} onAccepted={onAccepted} />
      ) : (
        <NewAccountForm link={link} token={token} onAccepted={onAccepted} />
      )}
    </Entrance>
  )
}

function describe({ kind, organization, email, role_name }: Link): { title: string; about: string } {
  const name = organization?.name ?? ''
  if (kind === 'setup')
    return { title: 'Set up Shiplock', about: `Create the first account of ${name}. It will be an Org admin.` }
  if (kind === 'reset')
    return { title: 'Choose a new password', about: `For ${email}. Other ways to sign in and all sessions end.` }
  return { title: `Join ${name}`, about: `You are invited as ${role_name}, with the email address ${email}.` }
}

/** All reasons look alike, so that nobody learns which links exist. */
function UnusableLink({ error, retry }: { error: unknown; retry: () => void }) {
  const code = asApiError(error)?.code
  if (code !== 'link_not_valid' && code !== 'invalid_request')
    return (
      <Entrance title="Open a link">
        <Problem error={error} title="The link could not be read" retry={retry} />
      </Entrance>
    )
  return (
    <Entrance title="This link cannot be used">
      <Stack gap="sm">
        <Text size="sm" role="alert">
          It was used before, it has expired, it was replaced by a newer one, or its address is incomplete.
        </Text>
        <Text size="sm">
          Ask whoever sent it for a new one. A server without an Org admin prints a new setup link at each start.
        </Text>
        <Anchor href="/sign-in" size="sm">
          Sign in instead
        </Anchor>
      </Stack>
    </Entrance>
  )
}

type ExistingAccountProps = { link: Link; token: string; onAccepted: (organization: string | null) => void }

/** Whoever has an account signs in to it before they join another organization. */
function ExistingAccount({ link, token, onAccepted }: ExistingAccountProps) {
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
