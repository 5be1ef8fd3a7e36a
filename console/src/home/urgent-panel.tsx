import { Group, Text } from '@mantine/core'
import { IconFlame } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { SeverityBadge, ToneBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Time } from '../page/time.tsx'
import classes from './home.module.css'
import { Panel } from './panel.tsx'
import { URGENT_SHOWN, urgentQueries } from './routes.ts'

type Issue = Schema<'Issue'>

/** The newest open issues that are critical or known to be exploited. */
export function UrgentPanel({ org }: { org: string }) {
  const queries = urgentQueries(org)
  const critical = useQuery(queries.critical)
  const exploited = useQuery(queries.exploited)
  const items = critical.data && exploited.data && newestOf([...critical.data.data, ...exploited.data.data])
  return (
    <Panel
      title="Critical and exploited"
      items={items}
      count={critical.data?.next_cursor || exploited.data?.next_cursor ? `newest ${URGENT_SHOWN}` : undefined}
      error={critical.error ?? exploited.error}
      retry={() => {
        void critical.refetch()
        void exploited.refetch()
      }}
      empty="No critical or known exploited issue is open."
      itemKey={({ id }) => id}
      more={
        <Group gap="md">
          <Link {...pages.issues(org)} search={OPEN.exploited} size="sm">
            Exploited
          </Link>
          <Link {...pages.issues(org)} search={OPEN.critical} size="sm">
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
  return [...byId.values()].sort((a, b) => b.first_seen_at.localeCompare(a.first_seen_at)).slice(0, URGENT_SHOWN)
}

function UrgentIssue({ org, issue }: { org: string; issue: Issue }) {
  const { id, title, repository, first_seen_at, severity, intel } = issue
  return (
    <>
      <div className={classes.name}>
        <Link {...pages.issue(org, id)} size="sm" fw={500} truncate display="block" title={title}>
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
