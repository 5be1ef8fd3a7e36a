import { Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { DataList } from '../../list/data-list.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { formatTime } from '../../page/time.tsx'
import { auditColumns } from './audit-columns.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { ExportMenu } from './export-menu.tsx'
import { auditLogQuery, toAuditFilters } from './routes.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/audit-log')

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
      <AuditFilters search={search} onChange={filter} onClear={clear} />
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
