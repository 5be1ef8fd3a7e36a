import { Group, Text } from '@mantine/core'
import { IconFlame } from '@tabler/icons-react'
import { api, type Schema } from '../api/client.ts'
import { SeverityBadge, ToneBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { Time } from '../page/time.tsx'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

type Issue = Schema<'Issue'>

const SHOWN = 5

/** The newest open issues that are critical or known to be exploited. */
export function UrgentPanel({ org }: { org: string }) {
  const read = (query: { severity?: 'critical'; kev?: true }) => ({
    params: { path: { org }, query: { ...query, status: 'open' as const, limit: SHOWN } },
  })
  const critical = api.useQuery('get', '/app/api/orgs/{org}/security/issues', read({ severity: 'critical' }))
  const exploited = api.useQuery('get', '/app/api/orgs/{org}/security/issues', read({ kev: true }))
  const items = critical.data && exploited.data && newestOf([...critical.data.data, ...exploited.data.data])
  return (
    <Panel
      title="Critical and exploited"
      items={items}
      count={critical.data?.next_cursor || exploited.data?.next_cursor ? `newest ${SHOWN}` : undefined}
      error={critical.error ?? exploited.error}
      retry={() => {
        void critical.refetch()
        void exploited.refetch()
      }}
      empty="No critical or known exploited issue is open."
      itemKey={({ id }) => id}
      more={
        <Group gap="md">
          <Link to="/orgs/$org/security/issues" params={{ org }} search={OPEN.exploited} size="sm">
            Exploited
          </Link>
          <Link to="/orgs/$org/security/issues" params={{ org }} search={OPEN.critical} size="sm">
            All critical issues
          </Link>
        </Group>
      }
    >
      {(issue) => <UrgentIssue org={org} issue={issue} />}
    </Panel>
  )
}

const OPEN = {
  critical: { severity: 'critical', status: 'open' },
  exploited: { kev: 'yes', status: 'open' },
} as const

function newestOf(issues: readonly Issue[]): Issue[] {
  const byId = new Map(issues.map((issue) => [issue.id, issue]))
  return [...byId.values()].sort((a, b) => b.first_seen_at.localeCompare(a.first_seen_at)).slice(0, SHOWN)
}

function UrgentIssue({ org, issue }: { org: string; issue: Issue }) {
  const { id, title, repository, first_seen_at, severity, intel } = issue
  return (
    <>
      <div className={classes.name}>
        <Link
          to="/orgs/$org/security/issues/$id"
          params={{ org, id }}
          size="sm"
          fw={500}
          truncate
          display="block"
          title={title}
        >
          <bdi>{title}</bdi>
        </Link>
        <Text size="xs" c="dimmed" truncate>
          <bdi>{repository}</bdi> · first seen <Time at={first_seen_at} />
        </Text>
      </div>
      <span className={classes.aside}>
        {intel.kev ? (
          <ToneBadge tone="critical" icon={IconFlame}>
            Exploited
          </ToneBadge>
        ) : (
          <SeverityBadge severity={severity} />
        )}
      </span>
    </>
  )
}
