import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { type Permission, useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ButtonLink } from '../../page/link.tsx'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/states.tsx'
import { PERMISSION_TEXTS, PERMISSIONS, RoleMatrix } from './role-matrix.tsx'
import { ROLES_PATH, type Role, useRoles } from './role-select.tsx'

/** What each role permits. */
export function RolesPage() {
  const query = useRoles()
  // The role that is edited; null for a new one.
  const editor = useDialog<{ role: Role | null }>()
  const deletion = useDialog<Role>()
  const edited = editor.subject?.role ?? null
  return (
    <Page
      title="Roles"
      description="Each member has one role. The built-in roles cannot be changed; a custom role has any set of permissions."
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => editor.open({ role: null })}>
          Create role
        </Button>
      }
    >
      <QueryView query={query} of="roles">
        {({ data: roles }) => (
          <RoleMatrix roles={roles} onEdit={(role) => editor.open({ role })} onDelete={deletion.open} />
        )}
      </QueryView>
      <Dialog dialog={editor} title={edited ? `Edit ${edited.name}` : 'Create role'} size="lg">
        {({ role }) => <RoleForm role={role} onClose={editor.close} />}
      </Dialog>
      <Dialog dialog={deletion} title={`Delete ${deletion.subject?.name}`}>
        {(role) => <DeleteRole role={role} onClose={deletion.close} />}
      </Dialog>
    </Page>
  )
}

/** A new custom role, or changes of one. */
function RoleForm({ role, onClose }: { role: Role | null; onClose: () => void }) {
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

type PermissionChoiceProps = {
  value?: string[]
  onChange?: (permissions: string[]) => void
  error?: ReactNode
}

/** The permissions of a role with their meaning. Nobody can give one that they lack. */
function PermissionChoice({ value, onChange, error }: PermissionChoiceProps) {
  const { permissions: own } = useOrganization()
  return (
    <Checkbox.Group
      label="Permissions"
      value={value}
      onChange={onChange}
      error={error}
      data-path="permissions"
      tabIndex={-1}
    >
      <Stack gap="xs" my="xs">
        {PERMISSIONS.map((permission) => (
          <Checkbox
            key={permission}
            value={permission}
            label={PERMISSION_NAMES[permission]}
            description={
              own.includes(permission)
                ? PERMISSION_TEXTS[permission]
                : 'You cannot give this, because your role does not have it.'
            }
            disabled={!own.includes(permission)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

/** Deletes a role that nobody has, or says who has it. */
function DeleteRole({ role, onClose }: { role: Role; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: deleteRole } = useApiMutation('delete', `${ROLES_PATH}/{id}`, ['role'])
  const { id, name, members } = role
  if (members > 0)
    return (
      <Stack>
        <Text size="sm">
          {formatCount(members)} {members === 1 ? 'member has' : 'members have'} the role {name}. Give them another role
          first.
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <ButtonLink {...pages.members(org)} search={{ role: id }} variant="filled">
            Show members
          </ButtonLink>
        </Group>
      </Stack>
    )
  const send = async () => {
    await deleteRole({ params: { path: { org, id } } })
    notifyDone(`Deleted the role ${name}.`)
  }
  return (
    <ConfirmForm confirmLabel="Delete role" send={send} onClose={onClose}>
      The role {name} can no longer be given. Nobody has it now. An open invitation with the role prevents this: revoke
      the invitation first.
    </ConfirmForm>
  )
}
