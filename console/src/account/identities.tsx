import { Button, Group, Stack, Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { FormProblem } from '../actions/attempt.tsx'
import { ConfirmForm, Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { describeSingleSignOnError } from '../actions/single-sign-on-error.ts'
import { api } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { AccountSection } from '../page/sections.tsx'
import { LineSkeleton, QueryView } from '../page/states.tsx'
import { Time } from '../page/time.tsx'

type Identity = { id: string; organization: { slug: string; name: string }; issuer: string; created_at: string }

/** The identities at the providers of organizations that sign in to the account. */
export function Identities() {
  const query = api.useQuery('get', '/app/api/account/identities')
  const unlinking = useDialog<Identity>()
  const { error, reason } = useSearch({ strict: false })
  return (
    <AccountSection
      id="single-sign-on"
      title="Single sign-on"
      description="Identities at the identity providers of organizations. Each one opens its organization, and nothing else."
    >
      <Stack gap="md">
        <FormProblem problem={describeSingleSignOnError(error, reason)} />
        <QueryView query={query} of="identities" skeleton={<LineSkeleton lines={1} height={36} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm">No identity is linked to your account.</Text>
            ) : (
              <Stack component="ul" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
                {data.map((identity) => (
                  <IdentityRow key={identity.id} identity={identity} onUnlink={() => unlinking.open(identity)} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
      <Dialog dialog={unlinking} title={`Unlink the identity of ${unlinking.subject?.organization.name ?? ''}`}>
        {(identity) => <Unlink identity={identity} onClose={unlinking.close} />}
      </Dialog>
    </AccountSection>
  )
}

type IdentityRowProps = { identity: Identity; onUnlink: () => void }

function IdentityRow({ identity: { organization, issuer, created_at }, onUnlink }: IdentityRowProps) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap">
      <Stack gap={0} miw={0}>
        <Link {...pages.home(organization.slug)} size="sm" fw={500}>
          {organization.name}
        </Link>
        <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
          {issuer}, linked <Time at={created_at} />
        </Text>
      </Stack>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={`Unlink the identity of ${organization.name}`}
        onClick={onUnlink}
      >
        Unlink
      </Button>
    </Group>
  )
}

function Unlink({ identity, onClose }: { identity: Identity; onClose: () => void }) {
  const { limited } = useSession().session
  const { mutateAsync: unlinkIdentity } = useApiMutation('delete', '/app/api/account/identities/{id}', ['account'])
  const send = async () => {
    await unlinkIdentity({ params: { path: { id: identity.id } } })
    notifyDone('The identity was unlinked.')
  }
  return (
    <ConfirmForm confirmLabel="Unlink" send={send} onClose={onClose}>
      {identity.organization.name} can no longer sign you in, and the sessions that it has started end
      {limited && ', this one too'}. You stay a member.
    </ConfirmForm>
  )
}
