import { Group, Tabs, Text } from '@mantine/core'
import { IconFileCode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useOrganization, usePermission } from '../../api/session.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { LineSkeleton, QueryView } from '../../page/query-view.tsx'
import { Time } from '../../page/time.tsx'
import { ModeBadge } from '../facts/mode-badge.tsx'
import { ENGINE_NAMES, type PolicyWithFile } from '../facts/vocabulary.ts'
import { policyQuery } from '../routes.ts'
import { DeletePolicyButton } from './delete-policy-button.tsx'
import { PolicyFileTab } from './policy-file-tab.tsx'
import { PolicyResultsTab } from './policy-results-tab.tsx'
import type { PolicyTab } from './policy-tabs.ts'

const PolicyEditTab = lazy(() => import('./policy-edit-tab.tsx'))
const PolicyVersionsTab = lazy(() => import('./policy-versions-tab.tsx'))

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
            <PolicyTabs policy={data} mayEdit={mayEdit} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

function Facts({ policy }: { policy: PolicyWithFile }) {
  const { mode, engine, version, updated_at, changed_by, reason, repository, path } = policy
  return (
    <Group gap="sm">
      <ModeBadge mode={mode} />
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
      <Suspense fallback={<LineSkeleton lines={10} />}>
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
      </Suspense>
    </Tabs>
  )
}
