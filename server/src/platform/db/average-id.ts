import { isSpread } from './spread.ts'
import type { Db } from './sql.ts'

/**
 * An id whose rows the planner estimates by the average of the column. It looks up the value of a
 * parameter among the most common values of the column instead: an organization that is newer than
 * the statistics is not among them, and is estimated to have no rows (docs/adr/0011).
 * Of several database servers, only a parameter itself finds the right one.
 */
export function buildAverageId(db: Db, id: string | number) {
  if (isSpread()) return typeof id === 'string' ? db`${id}::uuid` : db`${id}::bigint`
  return typeof id === 'string' ? db`(select ${id}::uuid)` : db`(select ${id}::bigint)`
}

/** `buildAverageId` for `column = any(…)`. */
export function buildAverageIds(db: Db, ids: readonly number[]) {
  if (isSpread()) return db`${ids as number[]}::bigint[]`
  return db`(select ${ids as number[]}::bigint[])::bigint[]`
}
