import { Type } from 'typebox'
import { RUN_STATUSES } from '../ci/runs/run-status.ts'
import { Closed, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { SEVERITIES } from '../security/vocabulary/severity.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const seconds = (description: string) => Nullable(Type.Integer({ minimum: 0 }), { description })
const date = Type.String({ format: 'date', description: 'The day in UTC, as `YYYY-MM-DD`.' })

const days = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 366, default: 90, description: 'The number of days, with today as the last.' }),
)
const repository = Type.Optional(
  Type.String({ minLength: 3, maxLength: 300, description: 'Count only this repository, as `owner/name`.' }),
)

export const IssueChartQuery = Closed({ days })
export const RunChartQuery = Closed({ days, repository })
export const DeliveryChartQuery = Closed({
  days,
  repository,
  environment: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Count only deployments to this environment. By default, all environments that are stated to be production, and ' +
        'those that are production by their name where nothing is stated: it has the part `prod`, `production`, `prd` or `live`, and none such as `pre`, `non`, `test` or `staging`. Parts are ' +
        'what no letter or digit separates, without digits at their end.',
    }),
  ),
})

const runCounts = Object.fromEntries(
  RUN_STATUSES.map((status) => [status, count(`The number of runs with the status \`${status}\`.`)]),
)

const PREVIOUS = 'The same figures for as many days before these.'

const runTotals = {
  runs: count('The number of runs.'),
  success_rate: Nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description: 'Successful runs divided by successful, failed and timed out runs. Null without such runs.',
  }),
}

export const RunChart = Closed({
  days: Type.Array(Closed({ date, runs: count('The number of runs that were created on this day.'), ...runCounts }), {
    description: 'Every day, oldest first.',
  }),
  ...runTotals,
  previous: Closed(runTotals, { description: PREVIOUS }),
})

const delivery = {
  deployments: count('The number of deployments that succeeded, failed or were rolled back.'),
  failed_deployments: count('The number of deployments that failed or were rolled back.'),
  lead_time_seconds: seconds(
    'The median time from the landing of a change on a tracked branch to its first successful deployment. For ' +
      'deployments without a change record, the time since the start of their run.',
  ),
  restore_seconds: seconds('The median time from a failed deployment to the next successful one or the rollback.'),
}

const deliveryTotals = {
  ...delivery,
  deployments_per_day: Type.Number({ minimum: 0, description: 'Successful deployments per day.' }),
  change_failure_rate: Nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description: 'Failed deployments divided by all. Null without deployments.',
  }),
}

export const DeliveryChart = Closed({
  environments: Type.Array(Type.String(), { description: 'The environments whose deployments are counted.' }),
  earlier_rule: Type.Optional(
    Closed(
      {
        until: Type.String({ format: 'date', description: 'The first day in UTC that the present rule is for.' }),
        environments: Type.Array(Type.String(), { description: 'The environments that are counted before that day.' }),
      },
      {
        description:
          'Which environments days from before the present rule count, so that their figures stay as they were shown. Absent if no day is from before.',
      },
    ),
  ),
  days: Type.Array(Closed({ date, ...delivery }), { description: 'Every day, oldest first.' }),
  ...deliveryTotals,
  previous: Closed(deliveryTotals, { description: PREVIOUS }),
})

const openIssues = Object.fromEntries(
  SEVERITIES.map((severity) => [severity, count(`The number of open issues of the severity \`${severity}\`.`)]),
)

export const IssueChart = Closed({
  days: Type.Array(
    Closed({
      date,
      open: Closed(openIssues, { description: 'The open issues at the end of the day, or now for today.' }),
      median_age_seconds: seconds('The median age of the open issues. Null without open issues, and if not recorded.'),
    }),
    { description: 'Every day, oldest first.' },
  ),
  counted_at: Nullable(Timestamp, { description: 'When the issues were last counted. Null if never.' }),
})
