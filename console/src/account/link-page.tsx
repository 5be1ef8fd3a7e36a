import { Button, Group, Stack, Text } from '@mantine/core'
import { Link as RouterLink, useSearch } from '@tanstack/react-router'
import { FormProblem, useAttempt } from '../actions/attempt.tsx'
import { api, client } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { Page } from '../page/page.tsx'
import { QueryView } from '../page/states.tsx'
import { AppFrame } from '../shell/app-frame.tsx'

/**
 * Asks a person who is signed in whether the identity provider of an organization may sign them in.
 * Addresses of single sign-on lead here, so that none of them links anything by itself.
 */
export function LinkPage() {
  const { org, next } = useSearch({ from: '/signed-in/account/link' })
  const query = api.useQuery('get', '/app/api/sso', { params: { query: org ? { org } : {} } })
  return (
    <AppFrame top={null} links={null}>
      <Page title="Link an identity" description="The identity provider of an organization asks to sign you in.">
        <QueryView query={query} of="organization">
          {({ data: { organization } }) =>
            org && organization !== null ? (
              <LinkForm org={org} name={organization} next={next} />
            ) : (
              <Text size="sm">This organization has no identity provider of its own.</Text>
            )
          }
        </QueryView>
      </Page>
    </AppFrame>
  )
}

type LinkFormProps = { org: string; name: string; next: string | undefined }

function LinkForm({ org, name, next }: LinkFormProps) {
  const { user, session } = useSession()
  const { isBusy, problem, run } = useAttempt()
  const link = () =>
    run(async () => {
      const body = { organization: org, ...(next && { next }) }
      const { data } = await client.POST('/app/api/account/identities', { body })
      if (data) location.assign(data.data.location)
    })
  return (
    <Stack maw={560} align="flex-start">
      <FormProblem problem={problem} />
      {session.limited ? (
        <Text size="sm">
          You are signed in with the single sign-on of another organization. To sign in to <b>{name}</b> ({org}), sign
          out first.
        </Text>
      ) : (
        <>
          <Text size="sm">
            You are signed in as <b>{user.email}</b>. If you link your identity, the identity provider of <b>{name}</b>{' '}
            ({org}) can sign you in to {name}, and to nothing else. Your present session stays, and you can unlink the
            identity in your account at any time.
          </Text>
          <Text size="sm">Link it only if you know this organization.</Text>
        </>
      )}
      <Group>
        {!session.limited && (
          <Button loading={isBusy} onClick={link}>
            Link the identity of {name}
          </Button>
        )}
        <Button variant="default" renderRoot={(props) => <RouterLink to="/" {...props} />}>
          Cancel
        </Button>
      </Group>
    </Stack>
  )
}
