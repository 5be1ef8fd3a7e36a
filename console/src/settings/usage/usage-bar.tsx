import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { formatCount, formatPercent, formatSize } from '../../page/numbers.ts'
import { formatTime, Time } from '../../page/time.tsx'
import type { Usage } from './usage.ts'

type CountedLimit = Usage['limits'][number]

const LIMITS: Record<CountedLimit['name'], { title: string; format: (count: number) => string; atLimit: string }> = {
  ci_runs_per_month: {
    title: 'CI runs this month',
    format: formatCount,
    atLimit: 'At the limit, new runs are refused until the reset. Runs that are recorded already go on.',
  },
  artifact_bytes_per_month: {
    title: 'Artifacts this month',
    format: formatSize,
    atLimit: 'At the limit, new artifacts are skipped until the reset. Reports are still recorded.',
  },
}
const NEARLY = 0.8

/** How much of a monthly limit is used. */
export function UsageBar({ limit: { name, used, limit, resets_at } }: { limit: CountedLimit }) {
  const { title, format, atLimit } = LIMITS[name]
  const share = limit === null ? null : limit === 0 ? 1 : used / limit
  return (
    <Paper p="md" component="section" aria-labelledby={name}>
      <Stack gap="xs">
        <Group justify="space-between" align="baseline">
          <Title order={2} id={name}>
            {title}
          </Title>
          <Text size="sm" fw={500}>
            {format(used)} {limit === null ? 'used' : `of ${format(limit)}`}
          </Text>
        </Group>
        {share !== null && (
          <Progress.Root size="md">
            <Progress.Section
              value={Math.min(share * 100, 100)}
              color={`var(--shiplock-${toneOf(share)})`}
              aria-label={`${title}: ${formatPercent(share)} used`}
              aria-valuetext={`${format(used)} of ${format(limit ?? 0)}`}
            />
          </Progress.Root>
        )}
        <Text size="sm" c="dimmed" component="div">
          {share === null ? 'Not limited by the plan. ' : `${stateOf(share)} `}
          Resets <Time at={resets_at} />, on {formatTime(resets_at)}.
        </Text>
        {share !== null && (
          <Text size="sm" c="dimmed">
            {atLimit}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

function toneOf(share: number): string {
  if (share >= 1) return 'failure'
  return share >= NEARLY ? 'waiting' : 'chart-1'
}

function stateOf(share: number): string {
  if (share >= 1) return 'The limit is reached.'
  return share >= NEARLY ? `${formatPercent(share)} used, nearly at the limit.` : `${formatPercent(share)} used.`
}
