import { Code, Stack, Text } from '@mantine/core'
import { IconPlus, IconShieldCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { PendingChanges } from '../../actions/pending-changes.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { Filters, TextFilter } from '../../list/filters.tsx'
import { useListPage, wholeList } from '../../list/list-page.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { describeApprovals, gateFacts, type ListedGate } from '../gate/gate-settings.ts'
import { gatesQuery } from '../gate/queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/gates')

/** The gates that deployments need the approval of. */
export function GatesPage() {
  const { slug: org } = useOrganization()
  const search = route.useSearch()
  const { name } = search
  const navigate = route.useNavigate()
  const query = useQuery(gatesQuery(org))
  const { isFiltered, filter, clear } = useListPage(search)
  const create = usePermission('manage_gates') && <CreateGate org={org} />
  const wanted = name?.toLowerCase() ?? ''
  const matches = (gate: ListedGate) =>
    [gate.name, gate.environment].some((text) => text.toLowerCase().includes(wanted))
  return (
    <Page
      title="Gates"
      description="A deployment to an environment that a gate covers waits for approvals or for policies that pass."
      actions={create}
    >
      <PendingChanges kind="gate" describe={gateFacts} />
      <Filters isFiltered={isFiltered} onClear={clear}>
        <TextFilter label="Name or environment" value={name} onChange={(name) => filter({ name })} />
      </Filters>
      <DataList
        of="gates"
        list={wholeList(query, matches)}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate(pages.gate(org, id))}
        empty={
          name === undefined ? (
            <Empty icon={IconShieldCheck} title="No gates" actions={create}>
              <Code>shiplock gate open</Code> is refused for an environment that no gate covers. Create one for
              production to have people or policies approve its deployments.
            </Empty>
          ) : (
            <Empty icon={IconShieldCheck} title="No gates match the filter" />
          )
        }
      />
    </Page>
  )
}

function CreateGate({ org }: { org: string }) {
  return (
    <ButtonLink {...pages.newGate(org)} variant="filled" leftSection={<IconPlus size={16} aria-hidden />}>
      Create gate
    </ButtonLink>
  )
}

function columnsOf(org: string): Column<ListedGate>[] {
  return [
    {
      key: 'name',
      header: 'Gate',
      width: 'minmax(0, 2fr)',
      cell: ({ id, name, policies, problems }) => (
        <Stack gap={0}>
          <Link {...pages.gate(org, id)} fw={500} size="sm" lineClamp={1}>
            {name}
          </Link>
          {policies.length > 0 && (
            <Text size="xs" c="dimmed" lineClamp={1}>
              {policies.join(', ')}
            </Text>
          )}
          {problems.map((problem) => (
            <Text key={problem} size="xs" c="var(--shiplock-waiting)">
              It {problem}.
            </Text>
          ))}
        </Stack>
      ),
    },
    {
      key: 'covers',
      header: 'Covers',
      width: 'minmax(0, 2fr)',
      cell: ({ environment, repository, branch }) => (
        <Text size="sm" lineClamp={2}>
          <code>{environment}</code>
          {repository !== null && (
            <>
              {' '}
              of <code>{repository}</code>
            </>
          )}
          {branch !== null && (
            <>
              {' '}
              from <code>{branch}</code>
            </>
          )}
        </Text>
      ),
    },
    {
      key: 'approvals',
      header: 'Requires',
      width: 'minmax(0, 1.4fr)',
      from: 'xs',
      cell: (gate) => (
        <Text size="sm">
          {describeApprovals(gate)}
          {gate.allow_api_keys && ', API keys too'}
        </Text>
      ),
    },
    {
      key: 'updated',
      header: 'Changed',
      width: '8rem',
      from: 'xs',
      align: 'end',
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
}
