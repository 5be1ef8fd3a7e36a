import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import type { Sql } from '../platform/db/sql.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { Envelope } from '../platform/http/schemas.ts'
import type { Services } from '../services.ts'
import {
  DeliveryChart,
  DeliveryChartQuery,
  IssueChart,
  IssueChartQuery,
  RunChart,
  RunChartQuery,
} from './chart.schema.ts'
import { toDeliveryChart, toIssueChart, toRunChart } from './charts.ts'
import { listIssueDays, listRunDays } from './counted-days.store.ts'
import { listDeliveryDays, listProductionEnvironments } from './delivery.store.ts'
import { getDaysBefore, getLastDays, listDates } from './trend-days.ts'

const PATH = `${ORGANIZATION_PATH}/charts`
const DAYS = 90
const tags = ['Charts']

export async function registerChartRoutes(app: HttpServer, { reads, clock }: Services): Promise<void> {
  app.get(
    `${PATH}/runs`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getRunChart',
        summary: 'Get the chart of runs',
        description:
          'Returns how many pipeline runs were created on each day, by status, and how many succeeded, also before.',
        tags,
        params: OrganizationPath,
        querystring: RunChartQuery,
        response: { 200: Envelope(RunChart, 'The runs of each day.') },
      },
    },
    async ({ actor, query: { days = DAYS, repository = null } }) => {
      const now = clock.now()
      const shown = getLastDays(days, now)
      const [counted, before] = await reads.read((sql) =>
        Promise.all([
          listRunDays(sql, actor.org_id, { ...shown, repository, now }),
          listRunDays(sql, actor.org_id, { ...getDaysBefore(shown), repository, now }),
        ]),
      )
      return { data: toRunChart(listDates(shown), counted, before) }
    },
  )

  app.get(
    `${PATH}/delivery`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getDeliveryChart',
        summary: 'Get the chart of delivery performance',
        description:
          'Returns the four key metrics of DORA: deployment frequency, lead time for changes, change failure rate and ' +
          'time to restore, for each day and for all days.',
        tags,
        params: OrganizationPath,
        querystring: DeliveryChartQuery,
        response: { 200: Envelope(DeliveryChart, 'The deployments of each day.') },
      },
    },
    async ({ actor, query: { days = DAYS, repository = null, environment } }) => {
      const now = clock.now()
      const shown = getLastDays(days, now)
      const read = async (sql: Sql) => {
        const named =
          environment === undefined
            ? null
            : { names: [environment], environments: [environment], earlier: null, places: [] }
        const production = named ?? (await listProductionEnvironments(sql, actor.org_id))
        const compared = getDaysBefore(shown)
        const [counted, before] = await Promise.all([
          listDeliveryDays(sql, actor.org_id, { ...shown, ...production, repository, now }),
          listDeliveryDays(sql, actor.org_id, { ...compared, ...production, repository, now }),
        ])
        const { environments, earlier } = production
        const shownRules = { environments, earlier: earlier !== null && earlier.until > compared.from ? earlier : null }
        return toDeliveryChart(listDates(shown), shownRules, { counted, before })
      }
      return { data: await reads.read(read) }
    },
  )

  app.get(
    `${PATH}/issues`,
    {
      config: { permission: 'view', feature: 'unique_issues' },
      schema: {
        operationId: 'getIssueChart',
        summary: 'Get the chart of open issues',
        description:
          'Returns how many issues were open on each day, by severity, and their median age. The issues are counted ' +
          'after each report and once an hour.',
        tags,
        params: OrganizationPath,
        querystring: IssueChartQuery,
        response: { 200: Envelope(IssueChart, 'The open issues of each day.') },
      },
    },
    async ({ actor, query: { days = DAYS } }) => {
      const shown = getLastDays(days, clock.now())
      const counted = await reads.read((sql) => listIssueDays(sql, actor.org_id, shown))
      return { data: toIssueChart(listDates(shown), counted) }
    },
  )
}
