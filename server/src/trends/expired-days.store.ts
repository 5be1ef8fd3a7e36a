import { defineExpiringRows, type Expiring } from '../platform/db/expiring-rows.ts'

/**
 * The figures of days for the charts. Of those about issues, the last one still counts for later
 * days.
 */
export const expiringDays: readonly Expiring[] = [
  defineExpiringRows({
    kind: 'issue_days',
    table: 'issue_days',
    key: ['day'],
    order: 'day',
    isExpired: (db, { org_id, before }) => db`
      item.day < (select max(day) from issue_days where org_id = ${org_id} and day <= ${before}::date)`,
  }),
  defineExpiringDays('run_days', ['day', 'repository', 'status']),
  defineExpiringDays('delivery_days', ['day', 'environment', 'repository']),
]

function defineExpiringDays(table: string, key: readonly [string, ...string[]]): Expiring {
  const isExpired: Parameters<typeof defineExpiringRows>[0]['isExpired'] = (db, { before }) =>
    db`item.day < ${before}::date`
  return defineExpiringRows({ kind: table, table, key, order: 'day', isExpired })
}
