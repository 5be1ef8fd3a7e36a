import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { Page } from '../../page/page.tsx'
import { QueryView } from '../../page/query-view.tsx'
import { DeleteRole } from './delete-role.tsx'
import { RoleForm } from './role-form.tsx'
import { RoleMatrix } from './role-matrix.tsx'
import { type Role, useRoles } from './role-query.ts'

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
