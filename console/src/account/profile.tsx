import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ApiFormView } from '../actions/api-form.tsx'
import { notifyDone } from '../actions/notify.tsx'
import { useApiForm } from '../actions/use-api-form.ts'
import { client } from '../api/client.ts'
import { sessionQuery, useSession } from '../api/session.ts'
import { AccountSection } from './account-section.tsx'

export function Profile() {
  const { user } = useSession()
  const queries = useQueryClient()
  const profile = useApiForm({
    initialValues: { name: user.name },
    send: async (body) => {
      await client.PATCH('/app/api/account', { body })
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
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
