import { IconShieldCheck } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useOrganization } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { ButtonLink } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { NoMatch } from '../facts/no-match.tsx'
import { issuesQuery } from '../routes.ts'
import { issueTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { ExportVex } from '../vex/export-vex.tsx'
import { issueColumns } from './issue-columns.tsx'
import { IssueFilters } from './issue-filters.tsx'
import { SeverityCounts } from './severity-counts.tsx'
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
  const { selection, actions, controls } = useListTriage({ type: 'issue', rows: list.rows, targetOf: issueTarget })
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
      <SeverityCounts search={search} onChange={change} />
      <IssueFilters search={search} onChange={change} onClear={clear} />
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
