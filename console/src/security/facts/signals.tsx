import { Badge, Button, Group, Text, Tooltip } from '@mantine/core'
import { IconFilterOff, IconFlame } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { SeverityBadge, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { formatPercent } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Empty } from '../../page/states.tsx'
import { ALERT_SEVERITIES } from './searches.ts'

type Intel = Schema<'Issue'>['intel']

/** An EPSS score in percent. Scores below a tenth of a percent are not zero. */
export function formatScore(score: number): string {
  return score > 0 && score < 0.001 ? `< ${formatPercent(0.001)}` : formatPercent(score)
}

/** Whether attackers use the vulnerability, or are expected to. */
export function Signals({ intel: { kev, epss } }: { intel: Intel }) {
  return (
    <Group gap={6}>
      {kev && <KevBadge kev={kev} />}
      {epss !== null && epss.score !== null && (
        <Tooltip label="EPSS: the probability that it is exploited within 30 days">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            EPSS {formatScore(epss.score)}
          </Text>
        </Tooltip>
      )}
    </Group>
  )
}

function KevBadge({ kev }: { kev: NonNullable<Intel['kev']> }) {
  const due = kev.due_date ? ` Fix by ${kev.due_date}.` : ''
  return (
    <Tooltip label={`In CISA’s catalog of Known Exploited Vulnerabilities.${due}`}>
      <ToneBadge tone="critical" icon={IconFlame}>
        Exploited
      </ToneBadge>
    </Tooltip>
  )
}

/** The issue that something belongs to, and why. */
export function IssueLink({ org, id, detail }: { org: string; id: string; detail: string | null }) {
  return (
    <>
      <Link {...pages.issue(org, id)} size="sm">
        Open issue
      </Link>
      {detail && (
        <Text size="xs" c="dimmed">
          {oneLine(detail, 200)}
        </Text>
      )}
    </>
  )
}

/** No row matches the filters. `of` is what is listed, in the plural. */
export function NoMatch({ of, onClear }: { of: string; onClear: () => void }) {
  return (
    <Empty
      icon={IconFilterOff}
      title={`No ${of} match the filters`}
      actions={
        <Button variant="default" onClick={onClear}>
          Show all {of}
        </Button>
      }
    >
      Choose fewer filters, or other ones.
    </Empty>
  )
}

/** The severity of an alert, which is a word of its code host. */
export function AlertSeverity({ severity }: { severity: string }) {
  const known = ALERT_SEVERITIES.find((each) => each === severity)
  return known ? <SeverityBadge severity={known} /> : <Badge color="gray">{severity.slice(0, 30)}</Badge>
}
