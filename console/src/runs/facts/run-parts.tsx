import { Badge, Group, Tooltip } from '@mantine/core'
import { formatDuration, useNow } from '../../page/time.tsx'

const REASONS: Record<string, [label: string, explanation: string]> = {
  slower_than_usual: ['Slower than usual', 'It took longer than 95% of the successful runs before it.'],
  first_failure_after_success: ['New failure', 'The run before it succeeded.'],
  new_actor: ['New actor', 'Nobody with this login has started one of the runs before it.'],
  unusual_hour: ['Unusual hour', 'None of the runs before it was started at this hour of the day.'],
}

/** What is unusual about a run, compared with the runs before it of the same workflow and branch. */
export function AnomalyBadges({ reasons }: { reasons: readonly string[] }) {
  if (reasons.length === 0) return null
  return (
    <Group gap={4} wrap="nowrap" component="span">
      {reasons.map((reason) => {
        const [label, explanation] = REASONS[reason] ?? [
          reason.replaceAll('_', ' '),
          'It differs from the runs before it.',
        ]
        return (
          <Tooltip key={reason} label={explanation} multiline maw={280}>
            <Badge
              size="sm"
              color="gray"
              variant="outline"
              style={{ flex: 'none', color: 'var(--shiplock-text-dimmed)' }}
            >
              {label}
            </Badge>
          </Tooltip>
        )
      })}
    </Group>
  )
}

type RunDurationProps = { status: string; started_at: string; duration_seconds: number | null }

/** How long a run or an attempt took, or has taken so far. */
export function RunDuration({ status, started_at, duration_seconds: seconds }: RunDurationProps) {
  const now = useNow()
  if (seconds !== null) return formatDuration(seconds)
  if (status !== 'in_progress') return null
  const minutes = Math.max(0, Math.floor((now - new Date(started_at).getTime()) / 60_000))
  return `${minutes === 0 ? 'under 1 min' : formatDuration(minutes * 60)} so far`
}
