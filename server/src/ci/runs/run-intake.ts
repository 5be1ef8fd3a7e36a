import { Batch } from '../../platform/batch.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { DayNumbers } from './day-numbers.ts'
import { type InsertedRun, insertRuns, type NewRun } from './new-run.store.ts'

/** What new runs share within a process, so that many at once cost the database little more than one. */
export type RunIntake = {
  numbers: DayNumbers
  /** Null for a run that was not stored: see `insertRuns`. */
  inserts: Batch<NewRun, InsertedRun | null>
}

export function openRunIntake(sql: Sql): RunIntake {
  const inserts = new Batch<NewRun, InsertedRun | null>(async (runs) => {
    const inserted = new Map((await insertRuns(sql, runs)).map((run) => [run.id, run]))
    return runs.map((run) => inserted.get(run.id) ?? null)
  })
  return { numbers: new DayNumbers(sql), inserts }
}
