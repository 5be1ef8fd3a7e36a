import type { Sql } from '../platform/db/sql.ts'
import { distributeTables, listDueMoves, requireCluster } from './distribute-tables.ts'
import { findCluster, listPrograms } from './distribution.store.ts'

/** The workers of a cluster, and the tables that were moved. */
export type Distribution = { workers: string[]; distributed: string[]; reference: string[] }

type Options = {
  /** Checks the cluster, and moves nothing. */
  dryRun: boolean
  follow?: (done: number, total: number) => void
}

/**
 * Distributes the tables of a migrated database over the servers of its Citus cluster. Can be
 * repeated, also after an interruption. Nobody may write meanwhile: while some tables are moved and
 * others not, references between them do not hold.
 */
export async function distributeDatabase(sql: Sql, { dryRun, follow }: Options): Promise<Distribution> {
  const { workers } = requireCluster(await findCluster(sql))
  await refuseWhileInUse(sql)
  const moves = await listDueMoves(sql)
  if (!dryRun) await distributeTables(sql, moves, follow)
  const of = (place: string) => moves.filter((move) => move.place === place).map(({ table }) => table)
  return { workers, distributed: of('distributed'), reference: of('reference') }
}

async function refuseWhileInUse(sql: Sql): Promise<void> {
  const programs = await listPrograms(sql)
  if (programs.length === 0) return
  throw new Error(`Shiplock is running on this database (${programs.join(', ')}). Stop "server" and "worker" first.`)
}
