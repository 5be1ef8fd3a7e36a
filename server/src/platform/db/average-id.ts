import type { Db } from './sql.ts'

/**
 * An id whose rows the planner estimates by the average of the column. It looks up the value of a
 * parameter among the most common values of the column instead: an organization that is newer than
 * the statistics is not among them, and is estimated to have no rows (docs/adr/0011).
 */
export function averageId(db: Db, id: string | number) {
  return typeof id === 'string' ? db`(select ${id}::uuid)` : db`(select ${id}::bigint)`
}

/** `averageId` for `column = any(…)`. */
export function averageIds(db: Db, ids: readonly number[]) {
  return db`(select ${ids as number[]}::bigint[])::bigint[]`
}
