import { IconRadar2 } from '@tabler/icons-react'
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
import { findingsQuery } from '../routes.ts'
import { findingTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { findingColumns } from './finding-columns.tsx'
import { FindingFilters } from './finding-filters.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/findings')

/** The raw findings of every scanner, branch and report. */
export function FindingsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [now] = useState(Date.now)
  const list = useCursorList(findingsQuery(org, search, now))
  const { isFiltered, filter: change, clear } = useListPage(search)
  const { selection, actions, controls } = useListTriage({ type: 'finding', rows: list.rows, targetOf: findingTarget })
  return (
    <Page
      title="Findings"
      description="What each scanner reported, on every branch, newest first. Issues group findings of the same problem."
      actions={<ButtonLink {...pages.triages(org)}>Triage history</ButtonLink>}
    >
      <FindingFilters search={search} onChange={change} onClear={clear} />
      <DataList
        of="findings"
        list={list}
        columns={findingColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.finding(org, id))}
        selection={selection}
        actions={actions}
        empty={
          isFiltered ? (
            <NoMatch of="findings" onClear={clear} />
          ) : (
            <Empty
              icon={IconRadar2}
              title="No findings"
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
      />
      {controls}
    </Page>
  )
}
