import { Group, Table, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { formatScore } from './signals.tsx'

/** A score on a day: `2026-01-31`. */
export type EpssPoint = { date: string; score: number }

type EpssOverTimeProps = { earlier: EpssPoint[]; now: Schema<'Issue'>['intel']['epss'] }

/** The scores when findings were first seen, and today's. Null if there is nothing to compare. */
export function epssPoints({ earlier, now }: EpssOverTimeProps): EpssPoint[] {
  const today = now !== null && now.score !== null && now.date !== null ? [{ date: now.date, score: now.score }] : []
  const byDay = new Map([...earlier, ...today].map((point) => [point.date, point]))
  const points = [...byDay.values()].sort((a, b) => (a.date < b.date ? -1 : 1))
  return points.length < 2 ? [] : points.filter((_, index) => index === 0 || index >= points.length - 5)
}

/** How likely exploitation was when the problem was first seen, and is today. */
export function EpssOverTime(props: EpssOverTimeProps) {
  const points = epssPoints(props)
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return 'One score so far'
  const Icon =
    last.score > first.score ? IconArrowUpRight : last.score < first.score ? IconArrowDownRight : IconArrowRight
  const trend = last.score > first.score ? 'Risen' : last.score < first.score ? 'Fallen' : 'The same'
  return (
    <>
      <Group gap={4} component="span">
        <Icon size={15} aria-hidden /> <Text span size="sm">{`${trend} since it was first seen`}</Text>
      </Group>
      <Table fz="xs" verticalSpacing={2} horizontalSpacing={0} withRowBorders={false} aria-label="EPSS over time">
        <Table.Tbody>
          {points.map(({ date, score }) => (
            <Table.Tr key={date}>
              <Table.Th scope="row" fw={400}>
                {date}
              </Table.Th>
              <Table.Td ta="end">{formatScore(score)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  )
}
