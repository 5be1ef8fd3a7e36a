import { type Expiring, expiringRows } from '../platform/db/expiring-rows.ts'

/**
 * The figures of days for the charts. Of those about issues, the last one still counts for later
 * days.
 */
export const expiringDays: readonly Expiring[] = [
  expiringRows({
    kind: 'issue_days',
    table: 'issue_days',
    key: ['day'],
    order: 'day',
    isExpired: (db, { org_id, before }) => db`
      item.day < (select max(day) from issue_days where org_id = ${org_id} and day <= ${before}::date)`,
  }),
  expiringDaysOf('run_days', ['day', 'repository', 'status']),
  expiringDaysOf('delivery_days', ['day', 'environment', 'repository']),
]

function expiringDaysOf(table: string, key: readonly [string, ...string[]]): Expiring {
  const isExpired: Parameters<typeof expiringRows>[0]['isExpired'] = (db, { before }) => db`item.day < ${before}::date`
  return expiringRows({ kind: table, table, key, order: 'day', isExpired })
}
