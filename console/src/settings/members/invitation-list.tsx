import { Button, Group, Stack, Text } from '@mantine/core'
import { IconMail } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { wholeList } from '../../list/list-page.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { invitationsQuery } from '../routes.ts'
import type { NewInvitation } from './shown-invitation.tsx'

const PATH = '/app/api/orgs/{org}/invitations'

type Invitation = Omit<NewInvitation, 'link' | 'mail'>
type InvitationListProps = { onInvite: () => void; onResent: (invitation: NewInvitation) => void }

/** The invitations that nobody has accepted yet. */
export function InvitationList({ onInvite, onResent }: InvitationListProps) {
  const { slug: org } = useOrganization()
  const { mutateAsync: resendInvitation } = useApiMutation('post', `${PATH}/{id}/resend`, ['invitation'])
  const { mutateAsync: revokeInvitation } = useApiMutation('delete', `${PATH}/{id}`, ['invitation'])
  const query = useQuery(invitationsQuery(org))
  const revocation = useDialog<Invitation>()
  const resend = async ({ id, email }: Invitation) => {
    try {
      const { data } = await resendInvitation({ params: { path: { org, id } } })
      onResent(data)
    } catch (error) {
      notifyFailed(`The invitation of ${email} could not be sent again`, error)
    }
  }
  const revoke = async ({ id, email }: Invitation) => {
    await revokeInvitation({ params: { path: { org, id } } })
    notifyDone(`Revoked the invitation of ${email}.`)
  }
  return (
    <>
      <DataList
        of="invitations"
        list={wholeList(query)}
        columns={columnsOf(resend, revocation.open)}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={IconMail} title="No open invitations" actions={<Button onClick={onInvite}>Invite</Button>}>
            Invitations are listed here until somebody accepts them.
          </Empty>
        }
      />
      <Dialog dialog={revocation} title="Revoke invitation">
        {(invitation) => (
          <ConfirmForm confirmLabel="Revoke invitation" send={() => revoke(invitation)} onClose={revocation.close}>
            The link that <strong>{invitation.email}</strong> has will no longer work. You can invite them again.
          </ConfirmForm>
        )}
      </Dialog>
    </>
  )
}

function columnsOf(onResend: (row: Invitation) => void, onRevoke: (row: Invitation) => void): Column<Invitation>[] {
  return [
    {
      key: 'email',
      header: 'Email',
      width: 'minmax(0, 2fr)',
      cell: ({ email, invited_by, created_at }) => (
        <Stack gap={0}>
          <Text size="sm" fw={500} lineClamp={1}>
            {email}
          </Text>
          <Text size="xs" c="dimmed" component="div" lineClamp={1}>
            Invited by {invited_by} · <Time at={created_at} />
          </Text>
        </Stack>
      ),
    },
    { key: 'role', header: 'Role', width: 'minmax(0, 1fr)', cell: ({ role_name }) => role_name },
    {
      key: 'expires',
      header: 'Link',
      width: '10rem',
      cell: ({ expired, expires_at }) => (
        <Text size="sm" component="div">
          {expired ? 'Expired ' : 'Expires '}
          <Time at={expires_at} />
        </Text>
      ),
    },
    {
      key: 'actions',
      header: 'Actions',
      width: '11rem',
      align: 'end',
      cell: (row) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button size="xs" variant="default" onClick={() => onResend(row)} aria-label={`Resend to ${row.email}`}>
            Resend
          </Button>
          <Button size="xs" variant="default" onClick={() => onRevoke(row)} aria-label={`Revoke ${row.email}`}>
            Revoke
          </Button>
        </Group>
      ),
    },
  ]
}
