import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { RepositoryFilter } from '../../list/repository-filter.tsx'
import { severityLook, statusLook } from '../../page/badges.tsx'
import { PROVIDER_NAMES, PROVIDERS } from '../../page/provider-names.ts'
import { KIND_NAMES } from '../facts/names.ts'
import { KINDS, SEVERITIES, STATUSES } from '../issues/issue-search.ts'
import type { FindingSearch } from './finding-search.ts'

const AGES = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
] as const

type FindingFiltersProps = {
  search: FindingSearch
  onChange: (changes: Partial<FindingSearch>) => void
  onClear: () => void
}

/** Every filter of the list of findings. */
export function FindingFilters({ search, onChange, onClear }: FindingFiltersProps) {
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
