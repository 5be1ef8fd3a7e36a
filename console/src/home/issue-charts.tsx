import { useQuery } from '@tanstack/react-query'
import { asApiError } from '../api/api-error.ts'
import { formatTimeTick, TIME_STEPS } from '../charts/scale.ts'
import { Link } from '../page/link.tsx'
import { formatCount } from '../page/numbers.ts'
import { pages } from '../page/pages.ts'
import { formatDuration } from '../page/time.tsx'
import { ChartCard } from './chart-card.tsx'
import { chartQueries } from './routes.ts'

type IssueChartsProps = { org: string; days: number }

/** From the bottom of the stack to its top. */
const SEVERITIES = [
  ['critical', 'Critical'],
  ['high', 'High'],
  ['medium', 'Medium'],
  ['low', 'Low'],
  ['info', 'Info'],
] as const

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
