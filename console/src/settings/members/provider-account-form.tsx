import { TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useRefresh } from '../../api/use-refresh.ts'
import { loginAt, MEMBER_PATH, MEMBERS_PATH, type Member } from './member.ts'

const PROVIDER = 'github'

/** Who a member is at GitHub. An empty login removes the account. */
export function ProviderAccountForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const refresh = useRefresh()
  const { user_id, name } = member
  const change = useApiForm({
    initialValues: { login: loginAt(member, PROVIDER) ?? '' },
    fieldsOfCodes: { provider_account_taken: 'login', own_membership: 'login' },
    send: async ({ login }) => {
      const params = { path: { org, user_id, provider: PROVIDER } } as const
      const path = `${MEMBER_PATH}/provider-accounts/{provider}` as const
      const trimmed = login.trim()
      if (trimmed === '') await client.DELETE(path, { params })
      else await client.PUT(path, { params, body: { login: trimmed } })
      onClose()
      notifyDone(trimmed === '' ? `${name} has no GitHub account any more.` : `${name} is ${trimmed} on GitHub.`)
      await refresh(MEMBERS_PATH)
    },
  })
  return (
    <ApiFormView form={change} submitLabel="Save account" onCancel={onClose}>
      <TextInput
        label="GitHub login"
        description="Nobody approves the deployment of a run that they started. This tells which runs are theirs. Empty: none."
        autoComplete="off"
        maxLength={100}
        data-autofocus
        {...change.form.getInputProps('login')}
      />
    </ApiFormView>
  )
}
