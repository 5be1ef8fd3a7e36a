import { Group, Text, UnstyledButton } from '@mantine/core'
import type { CSSProperties } from 'react'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { severityLook } from '../../page/badges.tsx'
import { formatCount } from '../../page/numbers.ts'
import { formatTime } from '../../page/time.tsx'
import { type IssueSearch, SEVERITIES } from './issue-search.ts'
import classes from './severity-counts.module.css'

type SeverityCountsProps = { search: IssueSearch; onChange: (search: Partial<IssueSearch>) => void }

/** How many issues of the organization are open, by severity. Each count shows these issues. */
export function SeverityCounts({ search, onChange }: SeverityCountsProps) {
  const { slug: org } = useOrganization()
  const init = { params: { path: { org }, query: { days: 1 } } }
  const { data } = api.useQuery('get', '/app/api/orgs/{org}/charts/issues', init)
  const today = data?.data.days.at(-1)
  const countedAt = data?.data.counted_at
  return (
    <Group gap="xs" role="group" aria-label="Open issues by severity" mih={30}>
      {today &&
        SEVERITIES.map((severity) => {
          const { label, icon: Icon } = severityLook(severity)
          const isChosen = search.severity === severity && search.status === 'open'
          return (
            <UnstyledButton
              key={severity}
              className={classes.count}
              style={{ '--tone': `var(--shiplock-${severity})` } as CSSProperties}
              aria-pressed={isChosen}
              onClick={() => onChange(isChosen ? { severity: undefined } : { severity, status: 'open' })}
            >
              <Icon size={14} aria-hidden />
              <strong>{formatCount(today.open[severity])}</strong> {label}
            </UnstyledButton>
          )
        })}
      {countedAt && (
        <Text size="xs" c="dimmed">
          Open issues, counted {formatTime(countedAt)}
        </Text>
      )}
    </Group>
  )
}
