import { Select, TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { PROVIDER_NAMES, PROVIDERS, type Provider } from '../../page/provider-names.ts'
import { loginAt, MEMBER_PATH, type Member } from './member.ts'

const CODE_HOSTS = PROVIDERS.map((value) => ({ value, label: PROVIDER_NAMES[value] }))

/** What identifies a person at each code host. */
const LOGINS: Record<Provider, string> = {
  github: 'GitHub login',
  gitlab: 'GitLab username',
  bitbucket: 'Bitbucket nickname',
  azure: 'Azure DevOps email address',
}

const ACCOUNT_PATH = `${MEMBER_PATH}/provider-accounts/{provider}` as const

/** Who a member is at a code host. An empty login removes the account. */
export function ProviderAccountForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: removeAccount } = useApiMutation('delete', ACCOUNT_PATH, ['member'])
  const { mutateAsync: setAccount } = useApiMutation('put', ACCOUNT_PATH, ['member'])
  const { user_id, name } = member
  const change = useApiForm({
    initialValues: { provider: 'github' as Provider, login: loginAt(member, 'github') ?? '' },
    fieldsOfCodes: { provider_account_taken: 'login', own_membership: 'login' },
    send: async ({ provider, login }) => {
      const params = { path: { org, user_id, provider } } as const
      const trimmed = login.trim()
      const host = PROVIDER_NAMES[provider]
      if (trimmed === '') await removeAccount({ params })
      else await setAccount({ params, body: { login: trimmed } })
      onClose()
      notifyDone(trimmed === '' ? `${name} has no ${host} account any more.` : `${name} is ${trimmed} on ${host}.`)
    },
  })
  const { provider } = change.form.values
  const choose = (chosen: string | null) =>
    change.form.setValues({ provider: chosen as Provider, login: loginAt(member, chosen ?? '') ?? '' })
  return (
    <ApiFormView form={change} submitLabel="Save account" onCancel={onClose}>
      <Select
        label="Code host"
        data={CODE_HOSTS}
        allowDeselect={false}
        {...change.form.getInputProps('provider')}
        onChange={choose}
      />
      <TextInput
        label={LOGINS[provider]}
        description="Nobody approves the deployment of a run that they started. This tells which runs are theirs. Empty: none."
        autoComplete="off"
        maxLength={100}
        data-autofocus
        {...change.form.getInputProps('login')}
      />
    </ApiFormView>
  )
}
