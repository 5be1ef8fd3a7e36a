import { Text } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useRefresh } from '../../api/use-refresh.ts'
import { ROLES_PATH } from '../roles/role-query.ts'
import { RoleSelect } from '../roles/role-select.tsx'
import { MEMBER_PATH, MEMBERS_PATH, type Member } from './member.ts'

export function ChangeRoleForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const refresh = useRefresh()
  const { user_id, name, role, role_name } = member
  const change = useApiForm({
    initialValues: { role },
    fieldsOfCodes: { last_org_admin: 'role' },
    send: async (body) => {
      const { data } = await client.PATCH(MEMBER_PATH, { params: { path: { org, user_id } }, body })
      onClose()
      notifyDone(`${name} is now ${data?.data.role_name}.`)
      await refresh(MEMBERS_PATH, ROLES_PATH)
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
