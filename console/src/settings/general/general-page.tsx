import { Code, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
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

const TRUSTS = [
  { value: 'uploaded', label: 'Some with API keys' },
  { value: 'verified', label: 'With OIDC tokens, or through a connected code host' },
]

const MATCHING = [
  { value: 'on', label: 'On' },
  { value: 'preview', label: 'Preview: shown, but counted nowhere' },
  { value: 'off', label: 'Off' },
]

/** The name of the organization, and its name in addresses. */
export function GeneralPage() {
  const { slug: org } = useOrganization()
  const query = useQuery(organizationQuery(org))
  return (
    <Page title="General" description="What identifies the organization.">
      <QueryView query={query} of="organization">
        {({ data: { name, slug, id, default_trust, two_person_changes, inventory_matching, host_dismissals } }) => (
          <Stack maw={520} gap="xl">
            <NameForm name={name} key={name} />
            <TrustForm trust={default_trust} key={default_trust} />
            <MatchingForm matching={inventory_matching} key={inventory_matching} />
            <Stack gap={4}>
              <Text size="sm" fw={500}>
                Changes of gates and policies
              </Text>
              <Text size="sm">
                {two_person_changes ? 'A second person confirms what people change.' : 'One person alone changes them.'}
              </Text>
              <Text size="xs" c="dimmed">
                The operator decides: <Code>shiplock-server org set {slug} --two-person-changes yes</Code>
              </Text>
            </Stack>
            <Stack gap={4}>
              <Text size="sm" fw={500}>
                Dismissals of alerts on the code host
              </Text>
              <Text size="sm">
                {host_dismissals === 'accept'
                  ? 'They count here, too.'
                  : 'They are proposals: an alert stays open until somebody dismisses it in Shiplock.'}
              </Text>
              <Text size="xs" c="dimmed">
                The operator decides: <Code>shiplock-server org set {slug} --host-dismissals accept|propose</Code>
              </Text>
            </Stack>
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

/** Whose reports the rules of policies accept that do not say it themselves. */
function TrustForm({ trust }: { trust: 'verified' | 'uploaded' | null }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: setDefaultTrust } = useApiMutation('put', `${PATH}/default-trust`, ['organization', 'policy'])
  const mayChange = usePermission('manage_policies')
  const change = useApiForm({
    initialValues: { default_trust: trust ?? 'uploaded' },
    send: async ({ default_trust }) => {
      await setDefaultTrust({ params: { path: { org } }, body: { default_trust } })
      notifyDone('Saved how CI jobs identify themselves.')
    },
  })
  const field = (
    <NativeSelect
      label="How CI jobs identify themselves"
      description="Rules of policies that name no trust accept security reports of API keys only if some jobs use API keys."
      data={TRUSTS}
      disabled={!mayChange}
      {...change.form.getInputProps('default_trust')}
    />
  )
  if (!mayChange) return field
  return (
    <ApiFormView
      form={change}
      submitLabel="Save trust"
      submitProps={{ disabled: trust !== null && !change.form.isDirty() }}
    >
      {field}
    </ApiFormView>
  )
}

/** Whether components of bills of materials are matched with advisories. */
function MatchingForm({ matching }: { matching: 'on' | 'preview' | 'off' }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: setMatching } = useApiMutation('put', `${PATH}/inventory-matching`, ['organization', 'finding'])
  const mayChange = usePermission('manage_members')
  const change = useApiForm({
    initialValues: { inventory_matching: matching },
    send: async ({ inventory_matching }) => {
      await setMatching({ params: { path: { org } }, body: { inventory_matching } })
      notifyDone('Saved. Findings are opened or closed in the background.')
    },
  })
  const field = (
    <NativeSelect
      label="Matching of components with advisories"
      description="Components of bills of materials that an advisory says are affected become findings. Off closes them; their triage stays."
      data={MATCHING}
      disabled={!mayChange}
      {...change.form.getInputProps('inventory_matching')}
    />
  )
  if (!mayChange) return field
  return (
    <ApiFormView form={change} submitLabel="Save matching" submitProps={{ disabled: !change.form.isDirty() }}>
      {field}
    </ApiFormView>
  )
}
