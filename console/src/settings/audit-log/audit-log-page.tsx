import { Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { CURSOR_PAGES, useCursorList } from '../../list/cursor-list.ts'
import { DataList } from '../../list/data-list.tsx'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { formatTime } from '../../page/time.tsx'
import { auditColumns } from './audit-columns.tsx'
import { AuditFilters, type AuditSearch } from './audit-filters.tsx'
import { windowOf } from './audit-window.ts'
import { ExportMenu } from './export-menu.tsx'

const route = getRouteApi('/signed-in/orgs/$org/settings/audit-log')
const PATH = '/app/api/orgs/{org}/audit-log'

/** Who changed what, when and why. */
export function AuditLogPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const selected = { ...search, ...windowOf(search) }
  const init = { params: { path: { org }, query: { ...selected, limit: 100 } } }
  const query = api.useInfiniteQuery('get', PATH, init, CURSOR_PAGES)
  const list = useCursorList(query, ['get', PATH, init])
  const window = query.data?.pages[0]?.meta
  const filter = (changes: AuditSearch) => void navigate({ search: { ...search, ...changes }, replace: true })
  const isFiltered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Audit log"
      description="Every change in your organization with who made it and why. Entries are never changed or deleted."
      actions={<ExportMenu org={org} query={selected} />}
    >
      <AuditFilters search={search} onChange={filter} onClear={() => void navigate({ search: {} })} />
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
