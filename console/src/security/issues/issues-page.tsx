import { Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useQueries } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type CSSProperties, useState } from 'react'
import { api } from '../../api/client.ts'
import { matchingQuery } from '../../api/queries.ts'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { SeverityBadge, StatusBadge, severityLook } from '../../page/badges.tsx'
import { ButtonLink, Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Empty } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { IntelNotice, type IntelSource } from '../facts/intel-notice.tsx'
import { placeText } from '../facts/names.ts'
import { issuesQuery } from '../facts/queries.ts'
import { type Issue, type IssueSearch, SEVERITIES } from '../facts/searches.ts'
import { NoMatch, Signals } from '../facts/signals.tsx'
import { issueTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { ExportVex } from './export-vex.tsx'
import { IssueFilters } from './issue-filters.tsx'
import classes from './issues-page.module.css'
import { Views } from './views.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/issues')

/** Unique issues: what has to be fixed, and what was decided about it. */
export function IssuesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // The time at which the page was opened: a later one would be another query.
  const [now] = useState(Date.now)
  const list = useCursorList(issuesQuery(org, search, now))
  const { isFiltered, filter: change, clear } = useListPage(search)
  const { selection, actions, controls } = useListTriage({ type: 'issue', list, targetOf: issueTarget })
  const { repository, provider = null } = search
  return (
    <Page
      title="Issues"
      description="Findings of the same problem are one issue, whichever scanners, branches and reports they come from."
      actions={
        <>
          <ButtonLink {...pages.triages(org)}>Triage history</ButtonLink>
          <ExportVex repository={repository === undefined ? null : { name: repository, provider }} />
        </>
      }
    >
      <Views search={search} />
      <SeverityCounts search={search} now={now} onChange={change} />
      <IssueFilters search={search} onChange={change} onClear={clear} />
      <IntelNotice of={decidingSources(search)} />
      <DataList
        of="issues"
        list={list}
        columns={issueColumns(org, search.sort ?? 'newest', (sort) => change({ sort }))}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.issue(org, id))}
        selection={selection}
        actions={actions}
        empty={<NoIssues isFiltered={isFiltered} onClear={clear} />}
      />
      {controls}
    </Page>
  )
}

/** The sources that decide which issues the list has, and in which order. */
function decidingSources({ kev, epss, urgent, sort }: IssueSearch): IntelSource[] {
  const byKev = kev !== undefined || urgent !== undefined
  return [...(byKev ? ['kev' as const] : []), ...(epss !== undefined || sort === 'epss' ? ['epss' as const] : [])]
}

function NoIssues({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { slug: org } = useOrganization()
  if (isFiltered) return <NoMatch of="issues" onClear={onClear} />
  return (
    <Empty
      icon={IconShieldCheck}
      title="No issues"
      actions={
        <ButtonLink {...pages.uploads(org)} variant="filled">
          Upload a report
        </ButtonLink>
      }
    >
      Upload a SARIF, CycloneDX or SPDX report of any scanner, or connect a code host to read its alerts.
    </Empty>
  )
}

type Sort = NonNullable<IssueSearch['sort']>

/** The columns of the list of issues. */
function issueColumns(org: string, sort: Sort, onSort: (sort: Sort) => void): Column<Issue>[] {
  const by = (own: Sort) => ({ isSorted: sort === own, onSort: () => onSort(own) })
  return [
    {
      key: 'severity',
      header: 'Severity',
      width: '6.5rem',
      sort: by('severity'),
      cell: ({ severity }) => <SeverityBadge severity={severity} />,
    },
    { key: 'issue', header: 'Issue', width: 'minmax(0, 3fr)', cell: (issue) => <IssueName org={org} issue={issue} /> },
    {
      key: 'exploitation',
      header: 'Exploitation',
      width: '11rem',
      from: 'md',
      sort: by('epss'),
      cell: ({ intel }) => <Signals intel={intel} />,
    },
    {
      key: 'findings',
      header: 'Findings',
      width: '4.5rem',
      from: 'lg',
      align: 'end',
      cell: ({ member_count }) => formatCount(member_count),
    },
    { key: 'status', header: 'Status', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'seen',
      header: 'First seen',
      width: '7.5rem',
      from: 'xs',
      align: 'end',
      sort: by('newest'),
      cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    },
  ]
}

function IssueName({ org, issue }: { org: string; issue: Issue }) {
  const { id, title, repository, vuln_ids, intel } = issue
  const about = [oneLine(repository, 120), placeText(issue)].filter(Boolean)
  const vulnerability = intel.canonical_id ?? vuln_ids[0]
  return (
    <Stack gap={0}>
      <Link {...pages.issue(org, id)} fw={500} size="sm" truncate>
        <bdi>{oneLine(title, 300) || 'Untitled'}</bdi>
      </Link>
      <Text size="xs" c="dimmed" truncate>
        {vulnerability && (
          <>
            <Link {...pages.vulnerability(org, vulnerability)} size="xs" underline="always">
              {oneLine(vulnerability, 60)}
            </Link>
            {' · '}
          </>
        )}
        <bdi>{about.join(' · ')}</bdi>
      </Text>
    </Stack>
  )
}

type SeverityCountsProps = { search: IssueSearch; now: number; onChange: (search: Partial<IssueSearch>) => void }

/** How many issues are open with the other filters, by severity. Each count shows these issues. */
function SeverityCounts({ search, now, onChange }: SeverityCountsProps) {
  const { slug: org } = useOrganization()
  const { severity: _severity, status: _status, sort: _sort, ...others } = search
  const isFiltered = Object.values(others).some(Boolean)
  const init = { params: { path: { org }, query: { days: 1 } } }
  const { data: chart } = api.useQuery('get', '/app/api/orgs/{org}/charts/issues', init)
  const counted = useQueries({
    queries: SEVERITIES.map((severity) =>
      matchingQuery(
        issuesQuery(org, { ...others, severity, status: 'open', sort: undefined }, now).queryKey,
        isFiltered,
      ),
    ),
  })
  const today = chart?.data.days.at(-1)
  const countedAt = chart?.data.counted_at
  const countOf = (severity: (typeof SEVERITIES)[number], index: number) =>
    isFiltered ? counted[index]?.data : today && { count: today.open[severity], exact: true }
  return (
    <Group gap="xs" role="group" aria-label="Open issues by severity" mih={30}>
      {SEVERITIES.map((severity, index) => {
        const matching = countOf(severity, index)
        const { label, icon: Icon } = severityLook(severity)
        const isChosen = search.severity === severity && search.status === 'open'
        return (
          matching && (
            <UnstyledButton
              key={severity}
              className={classes.count}
              style={{ '--tone': `var(--shiplock-${severity})` } as CSSProperties}
              aria-pressed={isChosen}
              onClick={() => onChange(isChosen ? { severity: undefined } : { severity, status: 'open' })}
            >
              <Icon size={14} aria-hidden />
              <strong>
                {formatCount(matching.count)}
                {!matching.exact && '+'}
              </strong>{' '}
              {label}
            </UnstyledButton>
          )
        )
      })}
      <Text size="xs" c="dimmed">
        {isFiltered
          ? 'Open issues with the other filters'
          : countedAt && `Open issues, counted ${formatTime(countedAt)}`}
      </Text>
    </Group>
  )
}
