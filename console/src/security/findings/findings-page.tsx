import { IconRadar2 } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useOrganization } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { severityLook, statusLook } from '../../page/badges.tsx'
import { ButtonLink } from '../../page/link.tsx'
import { PROVIDER_NAMES, PROVIDERS } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { KIND_NAMES } from '../facts/names.ts'
import { findingsQuery } from '../facts/queries.ts'
import { type FindingSearch, KINDS, SEVERITIES, STATUSES } from '../facts/searches.ts'
import { NoMatch } from '../facts/signals.tsx'
import { findingTarget } from '../triage/targets.ts'
import { useListTriage } from '../triage/use-list-triage.tsx'
import { findingColumns } from './finding-columns.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/findings')

const AGES = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
] as const

/** The raw findings of every scanner, branch and report. */
export function FindingsPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [now] = useState(Date.now)
  const list = useCursorList(findingsQuery(org, search, now))
  const { isFiltered, filter: change, clear } = useListPage(search)
  const { selection, actions, controls } = useListTriage({ type: 'finding', list, targetOf: findingTarget })
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

type FindingFiltersProps = {
  search: FindingSearch
  onChange: (changes: Partial<FindingSearch>) => void
  onClear: () => void
}

/** Every filter of the list of findings. */
function FindingFilters({ search, onChange, onClear }: FindingFiltersProps) {
  const { severity, state, kind, repository, provider, scanner, category, branch, path, age } = search
  return (
    <Filters isFiltered={Object.values(search).some(Boolean)} onClear={onClear}>
      <ChoiceFilter
        label="Severity"
        width={120}
        value={severity}
        options={SEVERITIES.map((value) => ({ value, label: severityLook(value).label }))}
        onChange={(severity) => onChange({ severity })}
      />
      <ChoiceFilter
        label="State"
        width={120}
        value={state}
        options={STATUSES.map((value) => ({ value, label: statusLook(value).label }))}
        onChange={(state) => onChange({ state })}
      />
      <ChoiceFilter
        label="Kind"
        width={130}
        value={kind}
        options={KINDS.map((value) => ({ value, label: KIND_NAMES[value] }))}
        onChange={(kind) => onChange({ kind })}
      />
      <RepositoryFilter value={repository} onChange={(repository) => onChange({ repository })} />
      <ChoiceFilter
        label="Code host"
        width={130}
        value={provider}
        options={PROVIDERS.map((value) => ({ value, label: PROVIDER_NAMES[value] }))}
        onChange={(provider) => onChange({ provider })}
      />
      <TextFilter
        label="Scanner"
        placeholder="Exact name"
        value={scanner}
        onChange={(scanner) => onChange({ scanner })}
      />
      <TextFilter label="Branch" placeholder="main" value={branch} onChange={(branch) => onChange({ branch })} />
      <TextFilter
        label="Category"
        placeholder="Exact name"
        value={category}
        onChange={(category) => onChange({ category })}
      />
      <TextFilter label="Path" placeholder="src/" value={path} onChange={(path) => onChange({ path })} />
      <ChoiceFilter label="First seen" width={140} value={age} options={AGES} onChange={(age) => onChange({ age })} />
    </Filters>
  )
}
