import { Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { CopyField } from '../../page/copy.tsx'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { QueryView } from '../../page/states.tsx'
import { organizationQuery } from '../frame/queries.ts'

const PATH = '/app/api/orgs/{org}'

/** The name of the organization, and its name in addresses. */
export function GeneralPage() {
  const { slug: org } = useOrganization()
  const query = useQuery(organizationQuery(org))
  return (
    <Page title="General" description="What identifies the organization.">
      <QueryView query={query} of="organization">
        {({ data: { name, slug, id } }) => (
          <Stack maw={520} gap="xl">
            <NameForm name={name} key={name} />
            <Stack>
              <CopyField
                label="Slug"
                description="Its name in addresses and commands. It never changes."
                value={slug}
              />
              <CopyField label="Organization id" value={id} />
            </Stack>
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function NameForm({ name }: { name: string }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: renameOrganization } = useApiMutation('patch', PATH, ['organization'])
  const mayRename = usePermission('manage_members')
  const rename = useApiForm({
    initialValues: { name },
    validate: { name: (typed) => (typed.trim() === '' ? 'Enter a name.' : null) },
    send: async (typed) => {
      await renameOrganization({ params: { path: { org } }, body: { name: typed.name.trim() } })
      notifyDone('Saved the name of the organization.')
    },
  })
  if (!mayRename)
    return (
      <Stack gap={4}>
        <TextInput label="Name" value={name} readOnly />
        <Text size="xs" c="dimmed">
          Changing it needs the permission “{PERMISSION_NAMES.manage_members}”.
        </Text>
      </Stack>
    )
  return (
    <ApiFormView form={rename} submitLabel="Save name" submitProps={{ disabled: !rename.form.isDirty() }}>
      <TextInput
        label="Name"
        description="Shown in the console, in mails and in the audit log."
        maxLength={200}
        required
        {...rename.form.getInputProps('name')}
      />
    </ApiFormView>
  )
}
