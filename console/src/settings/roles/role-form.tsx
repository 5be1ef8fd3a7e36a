import { Text, TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { type Permission, useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { formatCount } from '../../page/numbers.ts'
import { PermissionChoice } from './permission-choice.tsx'
import { ROLES_PATH, type Role } from './role-query.ts'

/** A new custom role, or changes of one. */
export function RoleForm({ role, onClose }: { role: Role | null; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: createRole } = useApiMutation('post', ROLES_PATH, ['role'])
  const { mutateAsync: updateRole } = useApiMutation('patch', `${ROLES_PATH}/{id}`, ['role'])
  const edit = useApiForm({
    initialValues: { name: role?.name ?? '', permissions: (role?.permissions ?? ['view']) as string[] },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
    fieldsOfCodes: { role_name_taken: 'name' },
    send: async ({ name, permissions }) => {
      const body = { name: name.trim(), permissions: permissions as Permission[] }
      if (role === null) await createRole({ params: { path: { org } }, body })
      else await updateRole({ params: { path: { org, id: role.id } }, body })
      onClose()
      notifyDone(role === null ? `Created the role ${body.name}.` : `Saved the role ${body.name}.`)
    },
  })
  const { getInputProps } = edit.form
  return (
    <ApiFormView form={edit} submitLabel="Save role" onCancel={onClose}>
      {role !== null && role.members > 0 && (
        <Text size="sm">
          {formatCount(role.members)} {role.members === 1 ? 'member has' : 'members have'} this role. Changes take
          effect with their next request.
        </Text>
      )}
      <TextInput label="Name" maxLength={100} required data-autofocus {...getInputProps('name')} />
      <PermissionChoice {...getInputProps('permissions')} />
    </ApiFormView>
  )
}
