import { TextInput } from '@mantine/core'
import { ApiFormView } from '../actions/api-form.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { useApiForm } from '../actions/use-api-form.ts'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { AccountSection } from './account-section.tsx'

export function Profile() {
  const { user } = useSession()
  const { mutateAsync: renameAccount } = useApiMutation('patch', '/app/api/account', ['account'])
  const profile = useApiForm({
    initialValues: { name: user.name },
    send: async (body) => {
      await renameAccount({ body })
      notifyDone('Your name was changed.')
    },
  })
  const isUnchanged = profile.form.values.name.trim() === user.name
  return (
    <AccountSection
      id="profile"
      title="Profile"
      description="Your name is shown beside your decisions and in the audit log."
    >
      <ApiFormView form={profile} submitLabel="Save name" submitProps={{ variant: 'default', disabled: isUnchanged }}>
        <TextInput
          label="Email address"
          description="You sign in with it. It cannot be changed."
          value={user.email}
          readOnly
          variant="filled"
        />
        <TextInput label="Name" autoComplete="name" maxLength={100} required {...profile.form.getInputProps('name')} />
      </ApiFormView>
    </AccountSection>
  )
}
