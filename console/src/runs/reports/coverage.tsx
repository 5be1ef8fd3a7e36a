import { Box, Group, Progress, Stack, Text } from '@mantine/core'
import { formatPercent } from '../../page/numbers.ts'
import { type Data, numberIn } from './attestation-data.ts'

const MEASURES = [
  ['lines', 'Lines'],
  ['branches', 'Branches'],
  ['functions', 'Functions'],
  ['statements', 'Statements'],
] as const

/** How much of the code the tests reach, with the threshold that the lines must reach. */
export function Coverage({ data }: { data: Data }) {
  const threshold = numberIn(data, 'threshold')
  return (
    <Stack gap={8} maw={560}>
      {MEASURES.map(([key, label]) => {
        const percent = numberIn(data, key)
        return percent === null ? null : (
          <Measure key={key} label={label} percent={percent} threshold={key === 'lines' ? threshold : null} />
        )
      })}
    </Stack>
  )
}

type MeasureProps = { label: string; percent: number; threshold: number | null }

function Measure({ label, percent, threshold }: MeasureProps) {
  const isBelow = threshold !== null && percent < threshold
  return (
    <Box>
      <Group justify="space-between">
        <Text size="sm">{label}</Text>
        <Text size="sm">
          <b>{formatPercent(percent / 100)}</b>
          {threshold !== null && (
            <Text span size="xs" c={isBelow ? 'var(--shiplock-failure)' : 'dimmed'}>
              {` ${isBelow ? 'below' : 'at least'} ${formatPercent(threshold / 100)}`}
            </Text>
          )}
        </Text>
      </Group>
      <Progress
        mt={4}
        size={8}
        value={percent}
        color={isBelow ? 'var(--shiplock-failure)' : 'var(--shiplock-success)'}
        aria-label={`${label} covered`}
      />
    </Box>
  )
}
