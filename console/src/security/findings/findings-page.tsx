import { IconRadar2 } from '@tabler/icons-react'
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
import { findingTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { findingColumns } from './finding-columns.tsx'
import { FindingFilters } from './finding-filters.tsx'
import { type FindingSearch, findingQuery } from './finding-search.ts'

const route = getRouteApi('/signed-in/orgs/$org/security/findings')
const PATH = '/app/api/orgs/{org}/security/findings'
const PAGE_SIZE = 100

/** The raw findings of every scanner, branch and report. */
export function FindingsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [now] = useState(Date.now)
  const init = { params: { path: { org }, query: { ...findingQuery(search, now), limit: PAGE_SIZE } } }
  const list = useCursorList(api.useInfiniteQuery('get', PATH, init, CURSOR_PAGES), ['get', PATH, init])
  const change = (changes: Partial<FindingSearch>) =>
    void navigate({ search: { ...search, ...changes }, replace: true })
  const clear = () => void navigate({ search: {} })
  const { selection, actions, controls } = useListTriage({ type: 'finding', rows: list.rows, targetOf: findingTarget })
  return (
    <Page
      title="Findings"
      description="What each scanner reported, on every branch, newest first. Issues group findings of the same problem."
      actions={
        <ButtonLink to="/orgs/$org/security/triage" params={{ org }}>
          Triage history
        </ButtonLink>
      }
    >
      <FindingFilters search={search} onChange={change} onClear={clear} />
      <DataList
        of="findings"
        list={list}
        columns={findingColumns(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/orgs/$org/security/findings/$id', params: { org, id } })}
        selection={selection}
        actions={actions}
        empty={
          Object.values(search).some(Boolean) ? (
            <NoMatch of="findings" onClear={clear} />
          ) : (
            <Empty
              icon={IconRadar2}
              title="No findings"
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
      />
      {controls}
    </Page>
  )
}
