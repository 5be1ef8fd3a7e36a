import { Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { IconClipboardCheck, IconFilterOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type CSSProperties, useMemo } from 'react'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, ClearFilters, Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage, useWholeCursorList } from '../../list/list-page.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCount, formatMatching } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { withoutHost } from '../../page/repository.tsx'
import { ScrollBox } from '../../page/sections.tsx'
import { Empty } from '../../page/states.tsx'
import { ComplianceTabs } from '../facts/compliance-parts.tsx'
import { policiesQuery, resultsQuery } from '../facts/queries.ts'
import { type ComplianceResult, RESULT_STATUS_NAMES, RESULT_STATUSES } from '../facts/vocabulary.ts'
import { type MatrixColumn, type MatrixRow, matrixOf } from './result-matrix.ts'
import classes from './results-page.module.css'

const route = getRouteApi('/signed-in/orgs/$org/compliance')

/** The latest result of each policy for each repository. */
export function ResultsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const list = useWholeCursorList(resultsQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  const wanted = search.repository?.toLowerCase() ?? ''
  const results = useMemo(
    () => list.rows?.filter(({ repository }) => repository.toLowerCase().includes(wanted)),
    [list.rows, wanted],
  )
  const { rows, columns } = useMemo(() => matrixOf(results ?? []), [results])
  return (
    <Page
      title="Compliance"
      description="The latest result of each policy for each repository that it covers."
      actions={<FailingCount results={results} hasMore={list.hasMore} />}
    >
      <ComplianceTabs org={org} />
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={search.status}
          options={RESULT_STATUSES.map((status) => ({ value: status, label: RESULT_STATUS_NAMES[status] }))}
          onChange={(status) => filter({ status })}
        />
        <PolicyFilter org={org} value={search.policy} onChange={(policy) => filter({ policy })} />
        <TextFilter
          label="Repository"
          placeholder="Part of its name"
          value={search.repository}
          onChange={(repository) => filter({ repository })}
        />
      </Filters>
      <ScrollBox label="Compliance results by policy">
        <div className={classes.matrix} style={{ '--matrix-width': `${14 + 10 * columns.length}rem` } as CSSProperties}>
          <DataList
            of="compliance results"
            list={{ ...list, rows: results && rows, matching: null, hasMore: false, hasChanged: false }}
            columns={matrixColumns(org, columns)}
            rowKey={({ repository }) => repository}
            empty={isFiltered ? <NothingMatches onClear={clear} /> : <NoResults org={org} />}
          />
        </div>
      </ScrollBox>
      {list.hasMore && !list.isLoadingMore && (
        <Group justify="center">
          <Button variant="default" onClick={list.loadMore}>
            Load more results
          </Button>
        </Group>
      )}
    </Page>
  )
}

type PolicyFilterProps = { org: string; value: string | undefined; onChange: (id: string | undefined) => void }

function PolicyFilter({ org, value, onChange }: PolicyFilterProps) {
  const { data } = useQuery(policiesQuery(org))
  const options = (data?.data ?? []).map(({ id, name, repository }) => ({
    value: id,
    label: repository === null ? name : `${name} (${repository})`,
  }))
  return <ChoiceFilter label="Policy" value={value} options={options} onChange={onChange} />
}

/** How many of the results on the page fail. */
function FailingCount({ results, hasMore }: { results: ComplianceResult[] | undefined; hasMore: boolean }) {
  if (results === undefined || results.length === 0) return null
  const failing = results.filter(({ status }) => status === 'failing').length
  return (
    <Text size="sm" c="dimmed" role="status">
      {formatCount(failing)} of {formatMatching({ count: results.length, exact: !hasMore }, 'results')} failing
    </Text>
  )
}

function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <Empty icon={IconFilterOff} title="No results match the filters" actions={<ClearFilters onClick={onClear} />} />
  )
}

function NoResults({ org }: { org: string }) {
  return (
    <Empty
      icon={IconClipboardCheck}
      title="No compliance results"
      actions={<ButtonLink {...pages.policies(org)}>Open policies</ButtonLink>}
    >
      A policy states what must be true before a deployment. Apply one with bindings, and Shiplock evaluates each
      repository that it covers.
    </Empty>
  )
}

/** The repository, and a column for each policy. On a narrow screen each cell names its policy. */
function matrixColumns(org: string, policies: readonly MatrixColumn[]): Column<MatrixRow>[] {
  return [
    {
      key: 'repository',
      header: 'Repository',
      width: 'minmax(11rem, 2fr)',
      cell: ({ repository }) => (
        <Link {...pages.repository(org)} search={{ name: withoutHost(repository) }} size="sm" fw={500} lineClamp={2}>
          <Repository name={repository} />
        </Link>
      ),
    },
    ...policies.map(({ id, name }) => ({
      key: id,
      header: name,
      width: 'minmax(9rem, 1fr)',
      cell: ({ results }: MatrixRow) => <Cell org={org} policy={name} result={results.get(id)} />,
    })),
  ]
}

/** The host is the same for most repositories, so it stands back. */
function Repository({ name }: { name: string }) {
  const host = /^[^/.]+\.[^/]+\//.exec(name)?.[0] ?? ''
  return (
    <>
      <Text span inherit c="dimmed" fw={400}>
        {host}
      </Text>
      <wbr />
      {name.slice(host.length)}
    </>
  )
}

type CellProps = { org: string; policy: string; result: ComplianceResult | undefined }

function Cell({ org, policy, result }: CellProps) {
  if (result === undefined)
    return (
      <Text size="sm" c="dimmed" visibleFrom="sm">
        <span aria-hidden>–</span>
        <VisuallyHidden>Not covered</VisuallyHidden>
      </Text>
    )
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Text size="sm" c="dimmed" hiddenFrom="sm" lineClamp={1} aria-hidden>
        {policy}
      </Text>
      <Link
        {...pages.result(org)}
        search={{ policy: result.policy_id, repository: result.repository }}
        underline="never"
        aria-label={`${policy} on ${result.repository}: ${result.status.replace('_', ' ')}`}
        style={{ display: 'inline-flex', minHeight: 24, alignItems: 'center' }}
      >
        <StatusBadge status={result.status} />
      </Link>
    </Group>
  )
}
