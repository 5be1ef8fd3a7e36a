import { Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconClipboardList,
  IconFilterOff,
  IconPlus,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PendingChanges } from '../../actions/pending-changes.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, ClearFilters, Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage, wholeList } from '../../list/list-page.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { ComplianceTabs, ModeBadge } from '../facts/compliance-parts.tsx'
import { policiesQuery } from '../facts/queries.ts'
import { ENGINE_NAMES, type Policy } from '../facts/vocabulary.ts'

const route = getRouteApi('/signed-in/orgs/$org/compliance/policies')

type Search = ReturnType<typeof route.useSearch>

/** The policies of the organization, and those in the files of its repositories. */
export function PoliciesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayManage = usePermission('manage_policies')
  const query = useQuery(policiesQuery(org))
  const { isFiltered, filter, clear } = useListPage(search)
  const newPolicy = mayManage && <NewPolicy org={org} />
  return (
    <Page
      title="Policies"
      description="What must be true before a deployment. A policy that enforces can block it; one that monitors only reports."
      actions={newPolicy}
    >
      <ComplianceTabs org={org} />
      <PendingChanges kind="policy" />
      <Filters isFiltered={isFiltered} onClear={clear}>
        <TextFilter label="Name" value={search.name} onChange={(name) => filter({ name })} />
        <ChoiceFilter
          label="Mode"
          value={search.mode}
          options={[
            { value: 'enforce', label: 'Enforce' },
            { value: 'monitor', label: 'Monitor' },
          ]}
          onChange={(mode) => filter({ mode })}
        />
        <ChoiceFilter
          label="Comes from"
          value={search.from}
          options={[
            { value: 'organization', label: 'Organization' },
            { value: 'file', label: 'Repository file' },
          ]}
          onChange={(from) => filter({ from })}
        />
      </Filters>
      <DataList
        of="policies"
        list={wholeList(query, matches(search))}
        columns={policyColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.policy(org, id))}
        empty={isFiltered ? <NothingMatches onClear={clear} /> : <NoPolicies action={newPolicy} />}
      />
    </Page>
  )
}

function matches({ name, mode, from }: Search): (policy: Policy) => boolean {
  return (policy) =>
    (name === undefined || policy.name.toLowerCase().includes(name.toLowerCase())) &&
    (mode === undefined || policy.mode === mode) &&
    (from === undefined || (from === 'file') === (policy.path !== null))
}

function NewPolicy({ org }: { org: string }) {
  return (
    <ButtonLink {...pages.newPolicy(org)} variant="filled" leftSection={<IconPlus size={16} aria-hidden />}>
      New policy
    </ButtonLink>
  )
}

function NoPolicies({ action }: { action: ReactNode }) {
  return (
    <Empty icon={IconClipboardList} title="No policies" actions={action}>
      <Stack gap={4}>
        <Text size="sm">Start from a template, try it on the last runs, and let it monitor before it enforces.</Text>
        <Text size="sm">
          Repositories can also keep policies in <code>.shiplock/policies</code>.
        </Text>
      </Stack>
    </Empty>
  )
}

function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <Empty icon={IconFilterOff} title="No policies match the filters" actions={<ClearFilters onClick={onClear} />} />
  )
}

function policyColumns(org: string): Column<Policy>[] {
  return [
    {
      key: 'name',
      header: 'Policy',
      width: 'minmax(0, 3fr)',
      cell: ({ id, name, repository, path, engine }) => (
        <Stack gap={0}>
          <Link {...pages.policy(org, id)} fw={500} size="sm" lineClamp={1}>
            {name}
          </Link>
          <Text size="xs" c="dimmed" lineClamp={1}>
            {engine === null ? 'Unreadable' : ENGINE_NAMES[engine]}
            {path !== null && ` · ${repository} · ${path}`}
          </Text>
        </Stack>
      ),
    },
    { key: 'mode', header: 'Mode', width: '7rem', cell: ({ mode }) => <ModeBadge mode={mode} /> },
    {
      key: 'failing',
      header: 'Repositories',
      width: '10rem',
      cell: (policy) => <FailingRepositories org={org} policy={policy} />,
    },
    {
      key: 'version',
      header: 'Version',
      width: '4.5rem',
      from: 'md',
      align: 'end',
      cell: ({ version }) => formatCount(version),
    },
    {
      key: 'applied',
      header: 'Applied',
      width: 'minmax(9rem, 1.2fr)',
      cell: ({ changed_by, updated_at }) => (
        <Text size="sm" c="dimmed" lineClamp={2}>
          <Time at={updated_at} />
          {changed_by && ` by ${changed_by.name}`}
        </Text>
      ),
    },
  ]
}

function FailingRepositories({ org, policy: { id, results } }: { org: string; policy: Policy }) {
  const evaluated = results.failing + results.passing + results.warning
  if (evaluated === 0)
    return (
      <Text size="sm" c="dimmed">
        Not evaluated
      </Text>
    )
  const { failing, warning } = results
  const text =
    failing > 0 || warning === 0
      ? `${formatCount(failing)} of ${formatCount(evaluated)} failing`
      : `${formatCount(warning)} of ${formatCount(evaluated)} warning`
  const [tone, icon] =
    failing > 0
      ? (['failure', IconCircleX] as const)
      : warning > 0
        ? (['waiting', IconAlertTriangle] as const)
        : (['success', IconCircleCheck] as const)
  return (
    <Link
      {...pages.results(org)}
      search={{
        policy: id,
        ...(failing > 0 ? { status: 'failing' as const } : warning > 0 && { status: 'warning' as const }),
      }}
      underline="never"
      aria-label={`Repositories: ${text}`}
      style={{ display: 'inline-flex', minHeight: 24, alignItems: 'center' }}
    >
      <ToneBadge tone={tone} icon={icon}>
        {text}
      </ToneBadge>
    </Link>
  )
}
