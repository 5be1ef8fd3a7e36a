import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconMail } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import type { paths } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { wholeList } from '../../list/list-page.ts'
import { CopyField } from '../../page/copy.tsx'
import { Empty } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { invitationsQuery } from '../frame/queries.ts'
import { RoleSelect } from '../roles/role-select.tsx'

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
      from: 'xs',
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

type InviteFormProps = { onInvited: (invitation: NewInvitation) => void; onCancel: () => void }

export function InviteForm({ onInvited, onCancel }: InviteFormProps) {
  const { slug: org } = useOrganization()
  const { mutateAsync: sendInvitation } = useApiMutation('post', PATH, ['invitation'])
  const invite = useApiForm({
    initialValues: { email: '', role: 'viewer' },
    validate: { email: (email) => (email.includes('@') ? null : 'Enter an email address.') },
    fieldsOfCodes: { already_member: 'email' },
    send: async ({ email, role }) => {
      const { data } = await sendInvitation({ params: { path: { org } }, body: { email: email.trim(), role } })
      onInvited(data)
    },
  })
  const { getInputProps } = invite.form
  return (
    <ApiFormView form={invite} submitLabel="Send invitation" onCancel={onCancel}>
      <TextInput
        label="Email"
        description="Only the owner of this address can accept. The link works once, for 7 days."
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...getInputProps('email')}
      />
      <RoleSelect {...getInputProps('role')} />
    </ApiFormView>
  )
}

type Made = paths['/app/api/orgs/{org}/invitations']['post']['responses'][201]['content']['application/json']

export type NewInvitation = Made['data']

/** What came of an invitation: a link to pass on, or a mail. */
export function ShownInvitation({ invitation, onClose }: { invitation: NewInvitation; onClose: () => void }) {
  const { email, role_name, link, expires_at } = invitation
  return (
    <Stack>
      {link === null ? (
        <MailOutcome invitation={invitation} />
      ) : (
        <>
          <Text size="sm">
            This server sends no mail. Give this link to {email}, over a channel that only they read.
          </Text>
          <CopyField label="Invitation link" value={link} />
        </>
      )}
      <Text size="sm" c="dimmed">
        They join as {role_name}. The link works once, until {formatTime(expires_at)}
        {link !== null && ', and is shown only now'}.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}

function MailOutcome({ invitation: { email, mail } }: { invitation: NewInvitation }) {
  if (mail === 'failed')
    return (
      <Alert color="red" icon={<IconAlertTriangle />} title="The mail could not be sent" role="alert">
        The mail server did not take the message to {email}. The invitation is stored: send it again later.
      </Alert>
    )
  return (
    <Group gap="xs" wrap="nowrap">
      <IconMail size={18} aria-hidden />
      <Text size="sm">The link was mailed to {email}.</Text>
    </Group>
  )
}
