import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { IconLogin2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { CopyField } from '../../page/copy.tsx'
import { Page } from '../../page/page.tsx'
import { formatAddress, pages } from '../../page/pages.ts'
import { QueryView } from '../../page/states.tsx'
import { singleSignOnQuery } from '../frame/queries.ts'
import { SSO_PATH, SsoForm } from './sso-form.tsx'

/** The organization's own OpenID provider. */
export function SingleSignOnPage() {
  const { slug: org } = useOrganization()
  const query = useQuery(singleSignOnQuery(org))
  const removal = useDialog<true>()
  const callback = query.data?.data?.callback_url ?? `${location.origin}/app/api/sso/callback`
  return (
    <Page
      title="Single sign-on"
      description="Members sign in with the OpenID Connect provider of the organization, such as Entra ID, Okta, Keycloak or Google."
      actions={
        query.data?.data && (
          <Button variant="default" onClick={() => removal.open(true)}>
            Remove single sign-on
          </Button>
        )
      }
    >
      <Stack maw={640} gap="xl">
        <CopyField
          label="Callback address"
          description="Register it at the provider as the redirect URI of a confidential web client."
          value={callback}
        />
        <QueryView query={query} of="settings">
          {({ data }) =>
            data === null ? (
              <>
                <Text size="sm">Single sign-on is not set up. Members sign in with a passkey or a password.</Text>
                <SsoForm settings={null} />
              </>
            ) : (
              <>
                <SsoTest />
                <SsoForm settings={data} key={data.updated_at} />
              </>
            )
          }
        </QueryView>
      </Stack>
      <Dialog dialog={removal} title="Remove single sign-on">
        {() => <RemoveSso onClose={removal.close} />}
      </Dialog>
    </Page>
  )
}

function RemoveSso({ onClose }: { onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: removeSso } = useApiMutation('delete', SSO_PATH, ['single_sign_on'])
  const remove = async () => {
    await removeSso({ params: { path: { org } } })
    notifyDone('Removed single sign-on.')
  }
  return (
    <ConfirmForm confirmLabel="Remove" phrase={org} send={remove} onClose={onClose}>
      Sessions that the provider started end at once. Members without a passkey or a password can no longer sign in. The
      client secret is deleted: to set it up again, you need it from the provider.
    </ConfirmForm>
  )
}

/** Tries the provider: as oneself, or in a private window as somebody else. */
function SsoTest() {
  const { slug: org } = useOrganization()
  const next = formatAddress(pages.singleSignOn(org))
  const start = `/app/api/sso/start?${new URLSearchParams({ org, next })}`
  return (
    <Paper p="md">
      <Stack gap="sm">
        <Title order={2}>Test sign-in</Title>
        <Text size="sm">
          Asks you to link your identity at the provider to your account, and brings you back here. Your session stays.
          To try the sign-in of somebody else, open the address in a private window.
        </Text>
        <Group>
          <Button component="a" href={start} variant="default" leftSection={<IconLogin2 size={16} aria-hidden />}>
            Test sign-in
          </Button>
        </Group>
        <CopyField
          label="Sign-in address"
          description="For a private window, and for members of the organization."
          value={`${location.origin}/sign-in?org=${org}`}
        />
      </Stack>
    </Paper>
  )
}
