import { Text } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { RoleSelect } from '../roles/role-select.tsx'
import { MEMBER_PATH, type Member } from './member.ts'

export function ChangeRoleForm({ member, onClose }: { member: Member; onClose: () => void }) {
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
