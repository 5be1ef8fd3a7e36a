import { Select, TextInput } from '@mantine/core'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { ACTIONS, describeAction, nameOf, OBJECT_TYPES, PRINCIPAL_NAMES, PRINCIPAL_TYPES } from './audit-vocabulary.ts'
import type { AuditSearch } from './routes.ts'

type AuditFiltersProps = { search: AuditSearch; onChange: (changes: Partial<AuditSearch>) => void; onClear: () => void }

const ACTION_OPTIONS = ACTIONS.map((action) => ({ value: action, label: describeAction(action) }))

/** The filters of the audit log. */
export function AuditFilters({ search, onChange, onClear }: AuditFiltersProps) {
  return (
    <Filters isFiltered={Object.values(search).some(Boolean)} onClear={onClear}>
      <ChoiceFilter
        label="Made by"
        value={search.principal_type}
        options={PRINCIPAL_TYPES.map((type) => ({ value: type, label: PRINCIPAL_NAMES[type] }))}
        onChange={(principal_type) => onChange({ principal_type })}
      />
      <TextFilter
        label="Id of the person or key"
        value={search.principal_id}
        onChange={(principal_id) => onChange({ principal_id })}
      />
      <Select
        label="Action"
        placeholder="Any"
        size="xs"
        w={210}
        clearable
        searchable
        data={ACTION_OPTIONS}
        value={search.action ?? null}
        onChange={(action) => onChange({ action: action ?? undefined })}
      />
      <ChoiceFilter
        label="Object"
        value={search.object_type}
        options={OBJECT_TYPES.map((type) => ({ value: type, label: nameOf(type) }))}
        onChange={(object_type) => onChange({ object_type })}
      />
      <TextFilter label="Id of the object" value={search.object_id} onChange={(object_id) => onChange({ object_id })} />
      <TextInput
        type="date"
        label="From"
        size="xs"
        max={search.until}
        value={search.since ?? ''}
        onChange={({ currentTarget }) => onChange({ since: currentTarget.value || undefined })}
      />
      <TextInput
        type="date"
        label="To"
        size="xs"
        min={search.since}
        value={search.until ?? ''}
        onChange={({ currentTarget }) => onChange({ until: currentTarget.value || undefined })}
      />
    </Filters>
  )
}
