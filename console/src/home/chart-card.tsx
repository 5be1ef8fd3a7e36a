import { ActionIcon, Group, Paper, Skeleton, Text, Title, Tooltip } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ChartData } from '../charts/chart.ts'
import { HEIGHT } from '../charts/plot.tsx'
import { TimeChart } from '../charts/time-chart.tsx'
import { Problem } from '../page/states.tsx'
import classes from './home.module.css'

/** What a card shows of the data of its query. */
export type Shown = {
  /** The figure for the whole period. Null: there is none. */
  figure: string | null
  /** How the figure compares with the period before, or what it is. */
  note: ReactNode
  chart: ChartData
}

type ChartCardProps<Data> = {
  title: string
  /** How the figure is defined. */
  definition: string
  empty: string
  /** A link to what the chart counts. */
  more?: ReactNode
  query: UseQueryResult<Data, unknown>
  show: (data: Data) => Shown
}

/** A figure with its chart. Its height is the same in every state. */
export function ChartCard<Data>({ title, definition, empty, more, query, show }: ChartCardProps<Data>) {
  const shown = query.data === undefined ? null : show(query.data)
  return (
    <Paper component="section" aria-label={title} className={classes.chart}>
      <div className={classes.head}>
        <Group gap={4} wrap="nowrap">
          <Title order={2} fz="sm">
            {title}
          </Title>
          <Tooltip label={definition} multiline maw={300} events={{ hover: true, focus: true, touch: true }}>
            <ActionIcon variant="transparent" color="gray" size="sm" aria-label={`Definition: ${definition}`}>
              <IconInfoCircle size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Text span ml="auto" size="xs">
            {more}
          </Text>
        </Group>
        {shown && (
          <Group gap={10} align="baseline">
            <span className={classes.figure}>{shown.figure ?? '–'}</span>
            <Text span size="xs" c="dimmed">
              {shown.note}
            </Text>
          </Group>
        )}
      </div>
      {shown ? <TimeChart label={title} data={shown.chart} empty={empty} /> : <Pending title={title} query={query} />}
    </Paper>
  )
}

function Pending({ title, query }: { title: string; query: UseQueryResult<unknown, unknown> }) {
  return (
    <div style={{ minHeight: HEIGHT + 34 }} aria-busy={!query.isError}>
      {query.isError ? (
        <Problem
          error={query.error}
          title={`The chart “${title}” could not be loaded`}
          retry={() => void query.refetch()}
        />
      ) : (
        <Skeleton height={HEIGHT} />
      )}
    </div>
  )
}
