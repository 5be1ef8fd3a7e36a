import { TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { RoleSelect } from '../roles/role-select.tsx'
import type { NewInvitation } from './shown-invitation.tsx'

const PATH = '/app/api/orgs/{org}/invitations'

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
