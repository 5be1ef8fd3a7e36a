import { listPendingMigrations } from '../platform/db/migrations/migrate.ts'
import { checkSql } from '../platform/db/sql.ts'
import type { Services } from '../services.ts'

/** What must work before the program can do anything. */
export function defineReadinessChecks({ sql, objects }: Services) {
  return [
    { name: 'database', check: () => checkSql(sql) },
    { name: 'migrations', check: async () => refusePending(await listPendingMigrations(sql)) },
    { name: 'objects', check: () => objects.check() },
  ]
}

function refusePending(names: string[]): void {
  if (names.length > 0) throw new Error(`Not migrated: ${names.join(', ')}`)
}
