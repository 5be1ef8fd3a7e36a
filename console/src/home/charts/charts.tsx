import { ActionIcon, Group, Paper, Skeleton, Text, Title, Tooltip } from '@mantine/core'
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight, IconInfoCircle } from '@tabler/icons-react'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { asApiError } from '../../api/api-error.ts'
import type { ChartData } from '../../charts/chart.ts'
import { HEIGHT } from '../../charts/plot.tsx'
import { formatTimeTick, TIME_STEPS } from '../../charts/scale.ts'
import { TimeChart } from '../../charts/time-chart.tsx'
import { Link } from '../../page/link.tsx'
import { formatCount, formatPercent } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { Problem } from '../../page/states.tsx'
import { formatDuration } from '../../page/time.tsx'
import classes from '../facts/home.module.css'
import { chartQueries } from '../facts/queries.ts'
import { compare } from './trends.ts'

const ICONS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconArrowRight }

/** From the bottom of the stack to its top. */
const SEVERITIES = [
  ['critical', 'Critical'],
  ['high', 'High'],
  ['medium', 'Medium'],
  ['low', 'Low'],
  ['info', 'Info'],
] as const

/** What a card shows of the data of its query. */
type Shown = {
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

type ComparisonProps = {
  now: number | null
  before: number | null
  days: number
  /** Whether a higher or a lower figure is better. */
  better: 'higher' | 'lower'
  kind: 'share' | 'rate' | 'median'
  /** How many things each of the two figures is about. */
  counts: readonly [now: number, before: number]
}

/** How a figure differs from that of the period before. */
export function Comparison({ now, before, days, better, kind, counts }: ComparisonProps) {
  const compared = compare({ now, before, kind, counts })
  if (compared === null) return `no figure for the ${days} days before`
  const { direction, text, isNoise } = compared
  const Icon = isNoise ? IconArrowRight : ICONS[direction]
  const isBetter = (direction === 'up') === (better === 'higher')
  const color = isNoise ? 'neutral' : isBetter ? 'success' : 'failure'
  return (
    <span style={{ color: `var(--shiplock-${color})`, display: 'inline-flex', alignItems: 'center', gap: 3 }}>
      {(!isNoise || direction === 'same') && <Icon size={14} aria-hidden />}
      {text} {direction === 'same' ? 'as' : 'than'} in the {days} days before
      {isNoise && direction !== 'same' && ', which chance explains'}
    </span>
  )
}

type RunChartProps = { org: string; days: number }

/** The runs of each day and how many of them succeeded. */
export function RunChart({ org, days }: RunChartProps) {
  const query = useQuery(chartQueries(org, days).runs)
  return (
    <ChartCard
      title="Runs that succeed"
      definition="Successful runs divided by successful, failed and timed out runs. The chart counts runs by the day on which they were created."
      empty="No run was created in this period."
      more={<Link {...pages.runs(org)}>{formatCount(query.data?.data.runs ?? 0)} runs</Link>}
      query={query}
      show={({ data: { days: all, success_rate, runs, previous } }) => ({
        figure: success_rate === null ? null : formatPercent(success_rate),
        note: (
          <Comparison
            now={success_rate}
            before={previous.success_rate}
            days={days}
            better="higher"
            kind="share"
            counts={[runs, previous.runs]}
          />
        ),
        chart: {
          kind: 'bars',
          dates: all.map(({ date }) => date),
          format: formatCount,
          isCount: true,
          series: [
            { key: 'success', label: 'Success', color: 'chart-1', values: all.map(({ success }) => success) },
            { key: 'failed', label: 'Failed', color: 'chart-2', values: all.map((day) => day.failure + day.timed_out) },
            {
              key: 'other',
              label: 'Other',
              color: 'chart-5',
              values: all.map((day) => day.runs - day.success - day.failure - day.timed_out),
            },
          ],
        },
      })}
    />
  )
}

type IssueChartsProps = { org: string; days: number }

/** Open issues over time. Plans without unique issues have none. */
export function IssueCharts({ org, days }: IssueChartsProps) {
  const query = useQuery(chartQueries(org, days).issues)
  if (asApiError(query.error)?.code === 'plan_required') return null
  return (
    <>
      <ChartCard
        title="Open issues"
        definition="Unique issues that were open at the end of each day, by severity. Findings of several scanners about one problem are one issue."
        empty="No issue was open in this period."
        more={
          <Link {...pages.issues(org)} search={{ status: 'open' }}>
            Open issues
          </Link>
        }
        query={query}
        show={({ data: { days: all } }) => {
          const total = all.map(({ open }) => SEVERITIES.reduce((sum, [severity]) => sum + open[severity], 0))
          const now = total.at(-1) ?? 0
          return {
            figure: formatCount(now),
            note: describeChange(now - (total[0] ?? 0), days),
            chart: {
              ...{ kind: 'areas', dates: all.map(({ date }) => date), format: formatCount, isCount: true },
              series: SEVERITIES.map(([key, label]) => ({
                key,
                label,
                color: key,
                values: all.map(({ open }) => open[key]),
              })),
            },
          }
        }}
      />
      <ChartCard
        title="Median age of open issues"
        definition="Half of the open issues are older than this."
        empty="The age of issues was not recorded in this period."
        query={query}
        show={({ data: { days: all } }) => {
          const ages = all.map(({ median_age_seconds }) => median_age_seconds)
          const known = ages.filter((age) => age !== null)
          return {
            figure: known.length === 0 ? null : formatDuration(known.at(-1) as number),
            note: describeAge(known.at(-1), known[0]),
            chart: {
              ...{
                kind: 'lines',
                dates: all.map(({ date }) => date),
                format: formatDuration,
                tickSteps: TIME_STEPS,
                formatTick: formatTimeTick,
              },
              series: [{ key: 'age', label: 'Median age', color: 'chart-5', values: ages }],
            },
          }
        }}
      />
    </>
  )
}

function describeChange(difference: number, days: number): string {
  if (difference === 0) return `as many as ${days} days ago`
  return `${formatCount(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'} than ${days} days ago`
}

function describeAge(now: number | undefined, first: number | undefined): string {
  if (now === undefined || first === undefined) return ''
  return `${formatDuration(first)} at the start of the period`
}
