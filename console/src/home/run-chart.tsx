import { useQuery } from '@tanstack/react-query'
import { Link } from '../page/link.tsx'
import { formatCount, formatPercent } from '../page/numbers.ts'
import { pages } from '../page/pages.ts'
import { ChartCard } from './chart-card.tsx'
import { Comparison } from './comparison.tsx'
import { chartQueries } from './routes.ts'

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
      show={({ data: { days: all, success_rate, previous } }) => ({
        figure: success_rate === null ? null : formatPercent(success_rate),
        note: <Comparison now={success_rate} before={previous.success_rate} days={days} better="higher" isShare />,
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
