import { Stack, Text } from '@mantine/core'
import { IconPlus, IconShieldCheck } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { Filters, TextFilter } from '../../list/filters.tsx'
import { wholeList } from '../../list/whole-list.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { describeApprovals, type Gate } from './describe-gate.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/gates')

/** The gates that deployments need the approval of. */
export function GatesPage() {
  const { slug: org } = useOrganization()
  const { name } = route.useSearch()
  const navigate = route.useNavigate()
  const query = api.useQuery('get', '/app/api/orgs/{org}/gates', { params: { path: { org } } })
  const create = usePermission('manage_gates') && <CreateGate org={org} />
  const wanted = name?.toLowerCase() ?? ''
  const matches = (gate: Gate) => [gate.name, gate.environment].some((text) => text.toLowerCase().includes(wanted))
  return (
    <Page
      title="Gates"
      description="A deployment to an environment that a gate covers waits for approvals or for policies that pass."
      actions={create}
    >
      <Filters isFiltered={name !== undefined} onClear={() => void navigate({ search: {} })}>
        <TextFilter
          label="Name or environment"
          value={name}
          onChange={(next) => void navigate({ search: next === undefined ? {} : { name: next }, replace: true })}
        />
      </Filters>
      <DataList
        of="gates"
        list={wholeList(query, matches)}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/orgs/$org/settings/gates/$id', params: { org, id } })}
        empty={
          name === undefined ? (
            <Empty icon={IconShieldCheck} title="No gates" actions={create}>
              Without a gate, deployments that your CI asks about start at once. Create one for production to have
              people approve them.
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
    <ButtonLink
      to="/orgs/$org/settings/gates/new"
      params={{ org }}
      variant="filled"
      leftSection={<IconPlus size={16} aria-hidden />}
    >
      Create gate
    </ButtonLink>
  )
}

function columnsOf(org: string): Column<Gate>[] {
  return [
    {
      key: 'name',
      header: 'Gate',
      width: 'minmax(0, 2fr)',
      cell: ({ id, name, policies }) => (
        <Stack gap={0}>
          <Link to="/orgs/$org/settings/gates/$id" params={{ org, id }} fw={500} size="sm" lineClamp={1}>
            {name}
          </Link>
          {policies.length > 0 && (
            <Text size="xs" c="dimmed" lineClamp={1}>
              {policies.join(', ')}
            </Text>
          )}
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
      align: 'end',
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
}
