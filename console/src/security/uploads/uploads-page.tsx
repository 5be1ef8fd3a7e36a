import { Stack, Text, Title } from '@mantine/core'
import { IconFileUpload, IconLock } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization, usePermission } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters, RepositoryFilter } from '../../list/filters.tsx'
import { useCursorList, useListPage } from '../../list/list-page.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { formatCount } from '../../page/numbers.ts'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { DownloadIcon } from '../sending/download-button.tsx'
import { uploadsQuery } from '../sending/queries.ts'
import { StreamList } from '../sending/stream-list.tsx'
import type { SecurityUpload } from '../sending/upload-item.ts'
import { FORMAT_NAMES, ORIGIN_NAMES, STATUS_NAMES, UPLOAD_STATUSES } from '../sending/upload-words.ts'
import { UploadArea } from './upload-area.tsx'
import { UploadQueueList } from './upload-queue-list.tsx'

const route = getRouteApi('/signed-in/orgs/$org/security/uploads')

/** Reports of scanners: an area that takes them, and the list of all that were read. */
export function UploadsPage() {
  const { slug: org } = useOrganization()
  const mayUpload = usePermission('upload_security_reports')
  const { repository } = route.useSearch()
  return (
    <Page
      title="Uploads"
      description="Reports of scanners and bills of materials, newest first. CI jobs and API keys send them, too."
    >
      {mayUpload ? (
        <>
          <UploadArea org={org} />
          <UploadQueueList org={org} />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          <IconLock size={14} aria-hidden /> To upload reports, you need the permission “
          {PERMISSION_NAMES.upload_security_reports}”. Ask an Org admin of your organization for a role that has it.
        </Text>
      )}
      <UploadList org={org} />
      <StreamList org={org} repository={repository} />
    </Page>
  )
}

/** All uploads of the organization, from people, API keys and CI jobs. */
function UploadList({ org }: { org: string }) {
  const { status, repository } = route.useSearch()
  const filters = { status, repository }
  const navigate = route.useNavigate()
  const list = useCursorList(uploadsQuery(org, filters))
  const { isFiltered, filter, clear } = useListPage(filters)
  return (
    <Stack gap="sm" component="section" aria-labelledby="all-uploads">
      <Title order={2} id="all-uploads">
        All uploads
      </Title>
      <Filters isFiltered={isFiltered} onClear={clear}>
        <ChoiceFilter
          label="Status"
          value={status}
          options={UPLOAD_STATUSES.map((value) => ({ value, label: STATUS_NAMES[value] }))}
          onChange={(value) => filter({ status: value })}
        />
        <RepositoryFilter
          label="Reports about"
          value={repository}
          onChange={(value) => filter({ repository: value })}
        />
      </Filters>
      <DataList
        of="uploads"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.upload(org, id))}
        empty={
          isFiltered ? (
            <Empty icon={IconFileUpload} title="No uploads match the filters">
              Clear the filters to see all uploads.
            </Empty>
          ) : (
            <Empty icon={IconFileUpload} title="No uploads">
              Drag the reports of a scanner onto this page, or send them from CI with the Shiplock action or the
              <code> shiplock upload</code> command.
            </Empty>
          )
        }
      />
    </Stack>
  )
}

function columnsOf(org: string): Column<SecurityUpload>[] {
  return [
    { key: 'status', header: 'Status', width: '6.5rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'report',
      header: 'Report',
      width: 'minmax(0, 3fr)',
      cell: ({ id, filename, format, repository, git_ref }) => (
        <Stack gap={0}>
          <Link {...pages.upload(org, id)} fw={500} size="sm" truncate>
            <bdi>{filename}</bdi>
          </Link>
          <Text size="xs" c="dimmed" truncate>
            {[format && FORMAT_NAMES[format], repository, git_ref?.replace(/^refs\/heads\//, '')]
              .filter(Boolean)
              .join(' · ')}
          </Text>
        </Stack>
      ),
    },
    { key: 'findings', header: 'Findings', width: '5.5rem', from: 'md', align: 'end', cell: findings },
    { key: 'new', header: 'New', width: '4.5rem', from: 'md', align: 'end', cell: (row) => whenRead(row, 'created') },
    {
      key: 'fixed',
      header: 'Fixed',
      width: '4.5rem',
      from: 'lg',
      align: 'end',
      cell: (row) => whenRead(row, 'resolved'),
    },
    {
      key: 'by',
      header: 'By',
      width: 'minmax(0, 1fr)',
      from: 'md',
      cell: ({ created_by, origin }) => (
        <Text size="sm" truncate>
          <bdi>{created_by?.name ?? ORIGIN_NAMES[origin]}</bdi>
        </Text>
      ),
    },
    {
      key: 'created',
      header: 'Created',
      width: '7.5rem',
      from: 'xs',
      align: 'end',
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: 'download',
      header: 'File',
      width: '2.5rem',
      from: 'md',
      cell: (row) => <Download org={org} upload={row} />,
    },
  ]
}

function findings({ counts, status }: SecurityUpload) {
  return status === 'failed' || status === 'pending' ? '—' : formatCount(counts.findings)
}

function whenRead({ counts, status }: SecurityUpload, field: 'created' | 'resolved') {
  return status === 'finished' ? formatCount(counts[field]) : '—'
}

function Download({ org, upload }: { org: string; upload: SecurityUpload }) {
  return upload.status === 'failed' || upload.status === 'pending' ? null : <DownloadIcon org={org} upload={upload} />
}
