import { useQuery } from '@tanstack/react-query'
import type { ChartData } from '../../charts/chart.ts'
import { formatTimeTick, TIME_STEPS } from '../../charts/scale.ts'
import { Link } from '../../page/link.tsx'
import { formatCount, formatPercent, LOCALE } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { formatDuration } from '../../page/time.tsx'
import { chartQueries } from '../facts/queries.ts'
import { ChartCard, Comparison } from './charts.tsx'
import { rateByWeek } from './trends.ts'

type DeliveryChartsProps = { org: string; days: number }

const NUMBER = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 })

/** The four key metrics of DORA. */
export function DeliveryCharts({ org, days }: DeliveryChartsProps) {
  const query = useQuery(chartQueries(org, days).delivery)
  const until = query.data?.data.earlier_rule?.until
  const changed = until
    ? ` Which names are production was changed on ${until}; days before it count the environments that were production then.`
    : ''
  const empty = 'No deployment to production finished in this period.'
  const failed = (
    <Link {...pages.deployments(org)} search={{ view: 'list', status: 'failure' }}>
      Failed deployments
    </Link>
  )
  return (
    <>
      <ChartCard
        title="Deployment frequency"
        definition={`Successful deployments to production per day. Environments are production if Settings say so, and otherwise by their name, such as prod-eu.${changed}`}
        empty={empty}
        more={<Link {...pages.deployments(org)}>Deployments</Link>}
        query={query}
        show={({ data: { days: all, deployments_per_day: now, previous } }) => ({
          figure: `${NUMBER.format(now)} per day`,
          note: (
            <Comparison
              {...{ now, days, kind: 'rate' as const, counts: countsOf(query) }}
              before={previous.deployments_per_day}
              better="higher"
            />
          ),
          chart: {
            ...{ kind: 'bars', dates: datesOf(all), format: formatCount, isCount: true },
            series: [
              {
                key: 'success',
                label: 'Succeeded',
                color: 'chart-1',
                values: all.map((day) => day.deployments - day.failed_deployments),
              },
              {
                key: 'failed',
                label: 'Failed or rolled back',
                color: 'chart-2',
                values: all.map((day) => day.failed_deployments),
              },
            ],
          },
        })}
      />
      <ChartCard
        title="Lead time for changes"
        definition="The median time from the landing of a change on its branch to its first successful deployment to production. Without a change record, the time starts with the run."
        empty={empty}
        query={query}
        show={({ data: { days: all, lead_time_seconds: now, previous } }) => ({
          figure: now === null ? null : formatDuration(now),
          note: (
            <Comparison
              {...{ now, days, kind: 'median' as const, counts: countsOf(query) }}
              before={previous.lead_time_seconds}
              better="lower"
            />
          ),
          chart: timeChart(all, 'Median lead time', 'chart-3', 'lead_time_seconds'),
        })}
      />
      <ChartCard
        title="Change failure rate"
        definition="Deployments to production that failed or were rolled back, divided by all. The chart shows the rate of the seven days that end with each day."
        empty={empty}
        more={failed}
        query={query}
        show={({ data: { days: all, change_failure_rate: now, previous } }) => ({
          figure: now === null ? null : formatPercent(now),
          note: (
            <Comparison
              {...{ now, days, kind: 'share' as const, counts: countsOf(query) }}
              before={previous.change_failure_rate}
              better="lower"
            />
          ),
          chart: {
            ...{ kind: 'lines', dates: datesOf(all), format: formatPercent },
            series: [{ key: 'rate', label: 'Failure rate of 7 days', color: 'chart-2', values: rateByWeek(all) }],
          },
        })}
      />
      <ChartCard
        title="Time to restore"
        definition="The median time from a failed deployment to the next successful one, or from a deployment to its rollback. Several failures in a row count once."
        empty="No deployment to production had to be restored in this period."
        query={query}
        show={({ data: { days: all, restore_seconds: now, previous } }) => ({
          figure: now === null ? null : formatDuration(now),
          note: (
            <Comparison
              {...{ now, days, kind: 'median' as const, counts: failuresOf(query) }}
              before={previous.restore_seconds}
              better="lower"
            />
          ),
          chart: timeChart(all, 'Median time to restore', 'chart-4', 'restore_seconds'),
        })}
      />
    </>
  )
}

type Totals = { deployments: number; failed_deployments: number }
type Delivery = { data?: { data: Totals & { previous: Totals } } | undefined }

function countsOf({ data }: Delivery): readonly [number, number] {
  return [data?.data.deployments ?? 0, data?.data.previous.deployments ?? 0]
}

function failuresOf({ data }: Delivery): readonly [number, number] {
  return [data?.data.failed_deployments ?? 0, data?.data.previous.failed_deployments ?? 0]
}

type Day = { date: string; lead_time_seconds: number | null; restore_seconds: number | null }

function datesOf(days: readonly Day[]): string[] {
  return days.map(({ date }) => date)
}

function timeChart(
  days: readonly Day[],
  label: string,
  color: string,
  field: 'lead_time_seconds' | 'restore_seconds',
): ChartData {
  return {
    ...{
      kind: 'lines',
      dates: datesOf(days),
      format: formatDuration,
      tickSteps: TIME_STEPS,
      formatTick: formatTimeTick,
    },
    series: [{ key: field, label, color, values: days.map((day) => day[field]) }],
  }
}
