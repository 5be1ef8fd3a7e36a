import { Alert, Button, Code, Group, Stack, Tabs, Text } from '@mantine/core'
import { IconFileCode, IconPencil, IconTarget, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { isPending, notifyPending } from '../../actions/pending-changes.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { lazyPart } from '../../page/lazy-part.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { LineSkeleton, QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { CodeEditor } from '../editor/lazy-editor.tsx'
import { ModeBadge } from '../facts/compliance-parts.tsx'
import { policyQuery } from '../facts/queries.ts'
import { ENGINE_NAMES, type PolicyTab, type PolicyWithFile, SCOPE_NAMES } from '../facts/vocabulary.ts'
import { PolicyResultsTab } from './policy-results-tab.tsx'

const waiting = () => <LineSkeleton lines={10} />
const PolicyEditTab = lazyPart(async () => (await import('./policy-edit-tab.tsx')).default, { waiting })
const PolicyVersionsTab = lazyPart(async () => (await import('./policy-versions-tab.tsx')).default, { waiting })
const route = getRouteApi('/signed-in/orgs/$org/compliance/policies/$id')

/** One policy: its file, its results, its versions, and its editor. */
export function PolicyPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(policyQuery(org, id))
  const policy = query.data?.data
  const mayEdit = usePermission('manage_policies') && policy !== undefined && policy.path === null
  return (
    <Page
      title={policy?.name ?? 'Policy'}
      breadcrumbs={[
        <Link key="compliance" {...pages.results(org)} size="sm">
          Compliance
        </Link>,
        <Link key="policies" {...pages.policies(org)} size="sm">
          Policies
        </Link>,
      ]}
      actions={mayEdit && policy && <DeletePolicyButton policy={policy} />}
    >
      <QueryView query={query} of="policy">
        {({ data }) => (
          <>
            <Facts policy={data} />
            {isOfOldScope(data) && <OldScope policy={data} mayEdit={mayEdit} />}
            <PolicyTabs policy={data} mayEdit={mayEdit} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

function Facts({ policy }: { policy: PolicyWithFile }) {
  const { mode, engine, version, updated_at, changed_by, reason, repository, path } = policy
  const { scope } = policy.current.definition ?? {}
  return (
    <Group gap="sm">
      <ModeBadge mode={mode} />
      {policy.current.definition !== null && (
        <ToneBadge tone="neutral" icon={IconTarget}>
          {SCOPE_NAMES[scope ?? 'attempt']}
        </ToneBadge>
      )}
      <ToneBadge tone="neutral" icon={IconFileCode}>
        {engine === null ? 'Unreadable' : ENGINE_NAMES[engine]}
      </ToneBadge>
      <Text size="sm" c="dimmed">
        Version {version}, applied <Time at={updated_at} />
        {changed_by && ` by ${changed_by.name}`}
        {reason !== null && `: ${reason}`}
        {path !== null && ` · from ${path} in ${repository}`}
      </Text>
    </Group>
  )
}

/** Whether a version was stored before policies looked at the commit. */
function isOfOldScope({ current: { definition } }: PolicyWithFile): boolean {
  return definition !== null && definition.scope === undefined
}

function OldScope({ policy, mayEdit }: { policy: PolicyWithFile; mayEdit: boolean }) {
  const { slug: org } = useOrganization()
  return (
    <Alert color="yellow" icon={<IconTarget />} title="This version looks at one attempt of one run">
      <Text size="sm">
        It was stored by an earlier version of Shiplock and keeps its meaning. The next version looks at all runs and
        attempts of the commit, so that a job which was not repeated still counts, unless the file has{' '}
        <Code>scope: attempt</Code> or <Code>scope: run</Code>.{' '}
        {mayEdit
          ? 'Under Edit, a dry run shows what it would have decided. At the command line, this compares both versions over the last 50 deployments:'
          : 'It is applied with the next change of the file.'}
      </Text>
      {mayEdit && (
        <Code block mt="xs">
          shiplock-server policy dry-run --org {org} --name {`"${policy.name}"`}
        </Code>
      )}
    </Alert>
  )
}

function PolicyTabs({ policy, mayEdit }: { policy: PolicyWithFile; mayEdit: boolean }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const tab = search.tab === 'edit' && !mayEdit ? 'file' : (search.tab ?? 'file')
  const open = (next: string | null) => void navigate({ search: { tab: (next ?? 'file') as PolicyTab } })
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="file">File</Tabs.Tab>
        <Tabs.Tab value="results">Results</Tabs.Tab>
        <Tabs.Tab value="versions">Versions</Tabs.Tab>
        {mayEdit && <Tabs.Tab value="edit">Edit</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="file" pt="md">
        <PolicyFileTab policy={policy} onEdit={mayEdit ? () => open('edit') : undefined} />
      </Tabs.Panel>
      <Tabs.Panel value="results" pt="md">
        <PolicyResultsTab policy={policy} status={search.status} />
      </Tabs.Panel>
      <Tabs.Panel value="versions" pt="md">
        <PolicyVersionsTab policy={policy} earlier={search.earlier} later={search.later} />
      </Tabs.Panel>
      <Tabs.Panel value="edit" pt="md">
        <PolicyEditTab key={policy.id} policy={policy} />
      </Tabs.Panel>
    </Tabs>
  )
}

/** Deletes a policy after a question. */
function DeletePolicyButton({ policy: { id, name } }: { policy: { id: string; name: string } }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: deletePolicy } = useApiMutation('delete', '/app/api/orgs/{org}/policies/{id}', [])
  const navigate = useNavigate()
  const dialog = useDialog<true>()
  const remove = async ({ reason }: { reason: string | null }) => {
    const { data } = await deletePolicy({
      params: { path: { org, id }, query: reason === null ? {} : { reason } },
    })
    if (isPending(data)) notifyPending(data)
    else notifyDone(`${name} was deleted`)
    void navigate({ ...pages.policies(org), ignoreBlocker: true })
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => dialog.open(true)}
        aria-haspopup="dialog"
      >
        Delete policy
      </Button>
      <Dialog dialog={dialog} title={`Delete ${name}`}>
        {() => (
          <ConfirmForm confirmLabel="Delete" asksReason send={remove} onClose={dialog.close}>
            Deployments are no longer checked against it, waiting ones included. Its versions stay stored: applying a
            file with the name {name} continues them. To keep the results without blocking, set its mode to monitor.
          </ConfirmForm>
        )}
      </Dialog>
    </>
  )
}

type PolicyFileTabProps = { policy: PolicyWithFile; onEdit: (() => void) | undefined }

/** The file of the current version. */
function PolicyFileTab({ policy, onEdit }: PolicyFileTabProps) {
  const { file, definition } = policy.current
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {whereToEdit(policy, onEdit !== undefined)}
        </Text>
        {onEdit && (
          <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={onEdit}>
            Edit policy
          </Button>
        )}
      </Group>
      {file !== null ? (
        <CodeEditor label={`File of ${policy.name}`} value={file} />
      ) : (
        <>
          <Text size="sm">The file of this version was not stored. This is its content.</Text>
          <Code block>{JSON.stringify(definition, null, 2)}</Code>
        </>
      )}
    </Stack>
  )
}

function whereToEdit({ path, repository }: PolicyWithFile, mayEdit: boolean): string {
  if (path !== null) return `Edit ${path} in ${repository}. A push to the tracked branch applies it.`
  return mayEdit ? 'The file that is in force.' : 'To edit it, you need the permission “Manage policies”.'
}
