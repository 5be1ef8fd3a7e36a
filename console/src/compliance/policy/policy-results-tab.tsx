import { Group, Text } from '@mantine/core'
import { IconClipboardCheck } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { ChoiceFilter, Filters } from '../../list/filters.tsx'
import { useCursorList } from '../../list/list-page.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { resultsQuery } from '../facts/queries.ts'
import {
  type ComplianceResult,
  type PolicyWithFile,
  RESULT_STATUS_NAMES,
  RESULT_STATUSES,
  type ResultStatus,
} from '../facts/vocabulary.ts'

type PolicyResultsTabProps = { policy: PolicyWithFile; status: ResultStatus | undefined }

/** The results of one policy. */
export function PolicyResultsTab({ policy, status }: PolicyResultsTabProps) {
  const { slug: org } = useOrganization()
  const navigate = useNavigate()
  const list = useCursorList(resultsQuery(org, { policy: policy.id, status }))
  const filter = (next: ResultStatus | undefined) =>
    void navigate({
      ...pages.policy(org, policy.id),
      search: { tab: 'results', ...(next && { status: next }) },
    })
  return (
    <>
      <Group mb="md">
        <Filters isFiltered={status !== undefined} onClear={() => filter(undefined)}>
          <ChoiceFilter
            label="Status"
            value={status}
            options={RESULT_STATUSES.map((value) => ({ value, label: RESULT_STATUS_NAMES[value] }))}
            onChange={filter}
          />
        </Filters>
      </Group>
      <DataList
        of="results of the policy"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ repository }) =>
          void navigate({
            ...pages.result(org),
            search: { policy: policy.id, repository },
          })
        }
        empty={
          <Empty icon={IconClipboardCheck} title="No results">
            {status === undefined
              ? 'Shiplock evaluates the repositories that the bindings of the policy cover. A policy without bindings has no results.'
              : 'No repository has this status.'}
          </Empty>
        }
      />
    </>
  )
}

function columnsOf(org: string): Column<ComplianceResult>[] {
  return [
    { key: 'status', header: 'Status', width: '8.5rem', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'repository',
      header: 'Repository',
      width: 'minmax(0, 2fr)',
      cell: ({ repository, policy_id: policy }) => (
        <Link {...pages.result(org)} search={{ policy, repository }} size="sm" fw={500}>
          {repository}
        </Link>
      ),
    },
    {
      key: 'rules',
      header: 'Rules that do not pass',
      width: 'minmax(0, 2fr)',
      cell: ({ details }) => (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {details
            .filter(({ result }) => result !== 'pass')
            .map(({ rule }) => rule)
            .join(', ')}
        </Text>
      ),
    },
    {
      key: 'evaluated',
      header: 'Evaluated',
      width: '9rem',
      align: 'end',
      cell: ({ evaluated_at: at }) => (at === null ? null : <Time at={at} />),
    },
  ]
}
