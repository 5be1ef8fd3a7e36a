import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ChangeRoleForm } from './change-role-form.tsx'
import { MEMBER_PATH, type Member } from './member.ts'
import { ProviderAccountForm } from './provider-account-form.tsx'

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
