import { Group, Text, Tooltip } from '@mantine/core'
import { IconFlame } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { formatPercent } from '../../page/numbers.ts'

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
