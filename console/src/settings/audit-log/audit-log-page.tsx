import { Button, Menu, Select, Text, TextInput } from '@mantine/core'
import { IconChevronDown, IconDownload, IconHistory } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { formatTime } from '../../page/time.tsx'
import { auditColumns } from './audit-columns.tsx'
import {
  ACTIONS,
  type AuditEntry,
  describeAction,
  nameOf,
  OBJECT_TYPES,
  PRINCIPAL_NAMES,
  PRINCIPAL_TYPES,
} from './audit-vocabulary.ts'
import { type AuditSearch, auditLogQuery, toAuditFilters } from './queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/audit-log')

const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
] as const

const ACTION_OPTIONS = ACTIONS.map((action) => ({ value: action, label: describeAction(action) }))

/** Who changed what, when and why. */
export function AuditLogPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const list = useCursorList(auditLogQuery(org, search))
  const { isFiltered, filter, clear } = useListPage(search)
  const window = list.first?.meta
  return (
    <Page
      title="Audit log"
      description="Every change in your organization with who made it and why. Entries are never changed or deleted."
      actions={<ExportMenu org={org} query={toAuditFilters(search)} />}
    >
      <AuditFilters search={search} principals={principalsOf(list.rows)} onChange={filter} onClear={clear} />
      {window?.retention_clamped && (
        <Text size="sm" c="dimmed">
          Your plan shows entries since {formatTime(window.since)}.
        </Text>
      )}
      <DataList
        of="entries of the audit log"
        list={list}
        columns={auditColumns(org, filter)}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={IconHistory} title="No entries">
            {isFiltered ? 'No change matches the filters.' : 'Changes appear here as soon as somebody makes one.'}
          </Empty>
        }
      />
    </Page>
  )
}

type ExportMenuProps = { org: string; query: Record<string, string | undefined> }

/** Downloads all entries that the filters select. The server sends the file while it reads it. */
function ExportMenu({ org, query }: ExportMenuProps) {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const addressOf = (format: string) =>
    `/app/api/orgs/${org}/audit-log/export?${new URLSearchParams([['format', format], ...given])}`
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(([format, label]) => (
          <Menu.Item key={format} component="a" href={addressOf(format)} download>
            Export as {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

type Principal = { value: string; label: string }

/** Who made the entries that are loaded, by name. */
function principalsOf(rows: readonly AuditEntry[] | undefined): Principal[] {
  const names = new Map(
    rows?.flatMap(({ principal: { id, name } }) => (id === null ? [] : [[id, name] as const])) ?? [],
  )
  return [...names].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label))
}

/** An id of the address is shown as it is while no entry of it is loaded. */
function withChosen(principals: Principal[], id: string | undefined): Principal[] {
  const isKnown = id === undefined || principals.some(({ value }) => value === id)
  return isKnown ? principals : [...principals, { value: id, label: id }]
}

type AuditFiltersProps = {
  search: AuditSearch
  principals: Principal[]
  onChange: (changes: Partial<AuditSearch>) => void
  onClear: () => void
}

/** The filters of the audit log. */
function AuditFilters({ search, principals, onChange, onClear }: AuditFiltersProps) {
  return (
    <Filters isFiltered={Object.values(search).some(Boolean)} onClear={onClear}>
      <ChoiceFilter
        label="Made by"
        value={search.principal_type}
        options={PRINCIPAL_TYPES.map((type) => ({ value: type, label: PRINCIPAL_NAMES[type] }))}
        onChange={(principal_type) => onChange({ principal_type })}
      />
      <Select
        label="Person or key"
        placeholder="Any"
        size="xs"
        w={190}
        clearable
        searchable
        nothingFoundMessage="Not among the entries that are loaded"
        data={withChosen(principals, search.principal_id)}
        value={search.principal_id ?? null}
        onChange={(principal_id) => onChange({ principal_id: principal_id ?? undefined })}
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
