import { Select, Text, TextInput } from '@mantine/core'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import type { paths } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { PROVIDER_NAMES, PROVIDERS, type Provider } from '../../page/names.ts'
import { RoleSelect } from '../roles/role-select.tsx'

const CODE_HOSTS = PROVIDERS.map((value) => ({ value, label: PROVIDER_NAMES[value] }))

/** What identifies a person at each code host. */
const LOGINS: Record<Provider, string> = {
  github: 'GitHub login',
  gitlab: 'GitLab username',
  bitbucket: 'Bitbucket nickname',
  azure: 'Azure DevOps email address',
}

const MEMBER_PATH = '/app/api/orgs/{org}/members/{user_id}'
const ACCOUNT_PATH = `${MEMBER_PATH}/provider-accounts/{provider}` as const

/** What can be done with a member. */
export function useMemberDialogs() {
  const { slug: org } = useOrganization()
  const { mutateAsync: enableMember } = useApiMutation('post', `${MEMBER_PATH}/enable`, ['member'])
  const { mutateAsync: disableMember } = useApiMutation('post', `${MEMBER_PATH}/disable`, ['member'])
  const { mutateAsync: removeMember } = useApiMutation('delete', MEMBER_PATH, ['member'])
  const setEnabled = async ({ user_id, name }: Member, isEnabled: boolean) => {
    const params = { path: { org, user_id } }
    if (isEnabled) await enableMember({ params })
    else await disableMember({ params })
    return name
  }
  const enable = async (member: Member) => {
    try {
      notifyDone(`${await setEnabled(member, true)} has access again.`)
    } catch (error) {
      notifyFailed(`${member.name} could not be enabled`, error)
    }
  }
  const dialogs = {
    role: useDialog<Member>(),
    account: useDialog<Member>(),
    disable: useDialog<Member>(),
    remove: useDialog<Member>(),
  }
  return {
    ...dialogs,
    enable,
    sendDisable: async (member: Member) => {
      await setEnabled(member, false)
      notifyDone(`${member.name} is disabled.`, () => void enable(member))
    },
    sendRemove: async ({ user_id, name }: Member) => {
      await removeMember({ params: { path: { org, user_id } } })
      notifyDone(`Removed ${name}.`)
    },
  }
}

export function MemberDialogs({ dialogs }: { dialogs: ReturnType<typeof useMemberDialogs> }) {
  const { role, account, disable, remove, sendDisable, sendRemove } = dialogs
  return (
    <>
      <Dialog dialog={role} title={`Change the role of ${role.subject?.name}`}>
        {(member) => <ChangeRoleForm member={member} onClose={role.close} />}
      </Dialog>
      <Dialog dialog={account} title={`Code host account of ${account.subject?.name}`}>
        {(member) => <ProviderAccountForm member={member} onClose={account.close} />}
      </Dialog>
      <Dialog dialog={disable} title={`Disable ${disable.subject?.name}`}>
        {(member) => (
          <ConfirmForm confirmLabel="Disable member" send={() => sendDisable(member)} onClose={disable.close}>
            {member.name} loses access to this organization at once, in every browser. The role is kept, and you can
            enable them again. API keys that they created keep working.
          </ConfirmForm>
        )}
      </Dialog>
      <Dialog dialog={remove} title={`Remove ${remove.subject?.name}`}>
        {(member) => (
          <ConfirmForm confirmLabel="Remove member" send={() => sendRemove(member)} onClose={remove.close}>
            {member.name} loses access to this organization at once. What they did stays in the records, and API keys
            that they created keep working. To come back, they need a new invitation.
          </ConfirmForm>
        )}
      </Dialog>
    </>
  )
}

function ChangeRoleForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: changeRole } = useApiMutation('patch', MEMBER_PATH, ['member'])
  const { user_id, name, role, role_name } = member
  const change = useApiForm({
    initialValues: { role },
    fieldsOfCodes: { last_org_admin: 'role' },
    send: async (body) => {
      const { data } = await changeRole({ params: { path: { org, user_id } }, body })
      onClose()
      notifyDone(`${name} is now ${data.role_name}.`)
    },
  })
  return (
    <ApiFormView form={change} submitLabel="Save role" onCancel={onClose}>
      <Text size="sm">
        {name} is {role_name}. A new role takes effect with their next request, in every browser.
      </Text>
      <RoleSelect {...change.form.getInputProps('role')} />
    </ApiFormView>
  )
}

/** Who a member is at a code host. An empty login removes the account. */
function ProviderAccountForm({ member, onClose }: { member: Member; onClose: () => void }) {
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

export type Member = paths[typeof MEMBER_PATH]['get']['responses'][200]['content']['application/json']['data']

/** Who the member is at a code host. Null if nobody has said. */
function loginAt({ provider_accounts }: Member, provider: string): string | null {
  return provider_accounts.find((account) => account.provider === provider)?.login ?? null
}

/** The logins of a member with their code hosts: "ada (GitHub), ada.l (GitLab)". Empty without any. */
export function accountsText({ provider_accounts }: Member): string {
  return provider_accounts
    .map(({ provider, login }) => `${login} (${PROVIDER_NAMES[provider as Provider] ?? provider})`)
    .join(', ')
}
