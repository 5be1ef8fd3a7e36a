import { IconShieldCheck } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { CURSOR_PAGES, useCursorList } from '../../list/cursor-list.ts'
import { DataList } from '../../list/data-list.tsx'
import { ButtonLink } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { NoMatch } from '../facts/no-match.tsx'
import { issueTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { ExportVex } from '../vex/export-vex.tsx'
import { issueColumns } from './issue-columns.tsx'
import { IssueFilters } from './issue-filters.tsx'
import { type IssueSearch, issueQuery } from './issue-search.ts'
import { SeverityCounts } from './severity-counts.tsx'
import { Views } from './views.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/issues')
const PATH = '/app/api/orgs/{org}/security/issues'
const PAGE_SIZE = 100

/** Unique issues: what has to be fixed, and what was decided about it. */
export function IssuesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // The time at which the page was opened: a later one would be another query.
  const [now] = useState(Date.now)
  const init = { params: { path: { org }, query: { ...issueQuery(search, now), limit: PAGE_SIZE } } }
  const list = useCursorList(api.useInfiniteQuery('get', PATH, init, CURSOR_PAGES), ['get', PATH, init])
  const change = (changes: Partial<IssueSearch>) => void navigate({ search: { ...search, ...changes }, replace: true })
  const clear = () => void navigate({ search: {} })
  const { selection, actions, controls } = useListTriage({ type: 'issue', rows: list.rows, targetOf: issueTarget })
  const { repository, provider = null } = search
  return (
    <Page
      title="Issues"
      description="Findings of the same problem are one issue, whichever scanners, branches and reports they come from."
      actions={
        <>
          <ButtonLink to="/orgs/$org/security/triage" params={{ org }}>
            Triage history
          </ButtonLink>
          <ExportVex repository={repository === undefined ? null : { name: repository, provider }} />
        </>
      }
    >
      <Views search={search} />
      <SeverityCounts search={search} onChange={change} />
      <IssueFilters search={search} onChange={change} onClear={clear} />
      <DataList
        of="issues"
        list={list}
        columns={issueColumns(org, search.sort ?? 'newest', (sort) => change({ sort }))}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/orgs/$org/security/issues/$id', params: { org, id } })}
        selection={selection}
        actions={actions}
        empty={<NoIssues isFiltered={Object.values(search).some(Boolean)} onClear={clear} />}
      />
      {controls}
    </Page>
  )
}

function NoIssues({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { slug: org } = useOrganization()
  if (isFiltered) return <NoMatch of="issues" onClear={onClear} />
  return (
    <Empty
      icon={IconShieldCheck}
      title="No issues"
      actions={
        <ButtonLink to="/orgs/$org/security/uploads" params={{ org }} variant="filled">
          Upload a report
        </ButtonLink>
      }
    >
      Upload a SARIF, CycloneDX or SPDX report of any scanner, or connect a code host to read its alerts.
    </Empty>
  )
}
