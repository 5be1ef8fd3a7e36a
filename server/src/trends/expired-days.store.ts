import { type Expiring, expiringRows } from '../platform/db/expiring-rows.ts'

/** The figures of days for the charts. */
export const expiringDays: readonly Expiring[] = [
  expiringDaysOf('run_days', ['day', 'repository', 'status']),
  expiringDaysOf('delivery_days', ['day', 'environment', 'repository']),
]

function expiringDaysOf(table: string, key: readonly [string, ...string[]]): Expiring {
  const isExpired: Parameters<typeof expiringRows>[0]['isExpired'] = (db, { before }) => db`item.day < ${before}::date`
  return expiringRows({ kind: table, table, key, order: 'day', isExpired })
}
