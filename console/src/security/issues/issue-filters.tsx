import { Button, Group } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { ChoiceFilter, Filters, RepositoryFilter, TextFilter } from '../../list/filters.tsx'
import { severityLook, statusLook } from '../../page/badges.tsx'
import { PROVIDER_NAMES, PROVIDERS } from '../../page/names.ts'
import { KIND_NAMES } from '../facts/names.ts'
import { type IssueSearch, KINDS, SEVERITIES, STATUSES } from '../facts/searches.ts'

const YES_NO = [
  { value: 'yes', label: 'Yes' },
  { value: 'no', label: 'No' },
] as const
const SORTS = [
  { value: 'newest', label: 'Newest' },
  { value: 'severity', label: 'Worst severity' },
  { value: 'epss', label: 'Highest EPSS' },
] as const
const EPSS = [
  { value: 'over-1', label: 'At least 1%' },
  { value: 'over-10', label: 'At least 10%' },
  { value: 'over-50', label: 'At least 50%' },
] as const
const AGES = [
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
  { value: '90d', label: 'Last 90 days' },
] as const

type IssueFiltersProps = {
  search: IssueSearch
  onChange: (changes: Partial<IssueSearch>) => void
  onClear: () => void
}

/** Every filter and order of the list of issues. Those that are used rarely fold away. */
export function IssueFilters({ search, onChange, onClear }: IssueFiltersProps) {
  const { severity, status, kind, repository, sort } = search
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
        label="Status"
        width={120}
        value={status}
        options={STATUSES.map((value) => ({ value, label: statusLook(value).label }))}
        onChange={(status) => onChange({ status })}
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
        label="Order"
        width={150}
        value={sort}
        options={SORTS}
        placeholder="Newest"
        onChange={(sort) => onChange({ sort })}
      />
      <MoreFilters search={search} onChange={onChange} />
    </Filters>
  )
}

function MoreFilters({ search, onChange }: Omit<IssueFiltersProps, 'onClear'>) {
  const { provider, package: packageName, vulnerability, urgent, kev, epss, age } = search
  const used = [provider, packageName, vulnerability, urgent, kev, epss, age].filter(Boolean).length
  const [isOpen, setOpen] = useState(used > 0)
  const id = useId()
  return (
    <>
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Fewer filters' : 'More filters'}
        {!isOpen && used > 0 && ` (${used})`}
      </Button>
      <Group id={id} gap="xs" align="flex-end" w="100%" display={isOpen ? undefined : 'none'}>
        <TextFilter
          label="Package"
          placeholder="Name or package URL"
          value={packageName}
          onChange={(name) => onChange({ package: name })}
        />
        <TextFilter
          label="Vulnerability"
          placeholder="CVE-2024-1000"
          value={vulnerability}
          onChange={(vulnerability) => onChange({ vulnerability })}
        />
        <ChoiceFilter
          label="Urgent"
          width={100}
          value={urgent}
          options={YES_NO}
          onChange={(urgent) => onChange({ urgent })}
        />
        <ChoiceFilter
          label="Known exploited"
          width={130}
          value={kev}
          options={YES_NO}
          onChange={(kev) => onChange({ kev })}
        />
        <ChoiceFilter label="EPSS" width={130} value={epss} options={EPSS} onChange={(epss) => onChange({ epss })} />
        <ChoiceFilter label="Created" width={140} value={age} options={AGES} onChange={(age) => onChange({ age })} />
        <ChoiceFilter
          label="Code host"
          width={130}
          value={provider}
          options={PROVIDERS.map((value) => ({ value, label: PROVIDER_NAMES[value] }))}
          onChange={(provider) => onChange({ provider })}
        />
      </Group>
    </>
  )
}
