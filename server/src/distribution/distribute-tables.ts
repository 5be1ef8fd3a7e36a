import type { Sql } from '../platform/db/sql.ts'
import {
  type Cluster,
  copyToAllServers,
  deleteMovedRows,
  deleteReferences,
  findCluster,
  type KeptTable,
  listPrograms,
  listTables,
  updateFunctionDistribution,
  updateMoveSettings,
  updateTableDistribution,
  updateTableLogging,
} from './distribution.store.ts'
import { ENDED_REFERENCES, getTablePlace, type TablePlace } from './table-places.ts'

/** A table that is not where it belongs. */
export type Move = { table: string; place: Exclude<TablePlace, 'local'> }

/** The tables of a database that are not where they belong, in the order in which they can go. */
export async function listDueMoves(sql: Sql): Promise<Move[]> {
  const tables = await listTables(sql)
  const moves = tables.flatMap(({ name, has_organization, is_spread }): Move[] => {
    const place = getTablePlace(name, has_organization)
    return is_spread || place === null || place === 'local' ? [] : [{ table: name, place }]
  })
  return parentsFirst(moves, tables)
}

/**
 * Moves tables to where they belong. Each one moves in a transaction of its own, so that another
 * call continues after an interruption.
 */
export async function distributeTables(
  sql: Sql,
  moves: readonly Move[],
  follow: (done: number, total: number) => void = () => {},
): Promise<void> {
  await updateFunctionDistribution(sql)
  for (const [index, move] of moves.entries()) {
    await moveTable(sql, move)
    follow(index + 1, moves.length)
  }
  const spread = (await listTables(sql)).filter(({ is_spread }) => is_spread)
  await deleteMovedRows(
    sql,
    spread.map(({ name }) => name),
  )
}

/** Throws with what is missing before tables can be distributed. */
function requireCluster(cluster: Cluster | null): Cluster {
  if (cluster === null)
    throw new Error(
      'The database has no extension "citus". Install Citus on all servers, add it to shared_preload_libraries, ' +
        'run "create extension citus" in this database on each of them, and try again.',
    )
  if (!cluster.hasCoordinator)
    throw new Error(
      'Citus does not know the coordinator. Run "select citus_set_coordinator_host(\'HOST\', PORT)" in this database, ' +
        'with the address at which the workers reach it, and try again.',
    )
  if (cluster.workers.length === 0)
    throw new Error(
      'Citus knows no worker. Run "select citus_add_node(\'HOST\', PORT)" in this database for each one, and try again.',
    )
  return cluster
}

async function moveTable(sql: Sql, { table, place }: Move): Promise<void> {
  const beside = place === 'distributed' ? await findDistributed(sql) : null
  await sql.begin(async (tx) => {
    await updateMoveSettings(tx)
    await deleteReferences(tx, table, Object.keys(ENDED_REFERENCES))
    await updateTableLogging(tx, table)
    if (place === 'reference') await copyToAllServers(tx, table)
    else await updateTableDistribution(tx, table, beside)
  })
}

/** A table that is distributed already: all share its shards. */
async function findDistributed(sql: Sql): Promise<string | null> {
  const tables = await listTables(sql)
  const first = tables.find(
    ({ name, has_organization, is_spread }) => is_spread && getTablePlace(name, has_organization) === 'distributed',
  )
  return first?.name ?? null
}

function parentsFirst(moves: readonly Move[], tables: readonly KeptTable[]): Move[] {
  const parents = new Map(tables.map((table) => [table.name, table.parents]))
  const ordered: Move[] = []
  const left = new Map(moves.map((move) => [move.table, move]))
  while (left.size > 0) {
    const next = [...left.values()].find(({ table }) => !parents.get(table)?.some((parent) => left.has(parent)))
    if (next === undefined) throw new Error(`Tables refer to each other in a circle: ${[...left.keys()].join(', ')}`)
    left.delete(next.table)
    ordered.push(next)
  }
  return ordered
}

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
  const programs = await listPrograms(sql)
  if (programs.length > 0)
    throw new Error(`Shiplock is running on this database (${programs.join(', ')}). Stop "server" and "worker" first.`)
  const moves = await listDueMoves(sql)
  if (!dryRun) await distributeTables(sql, moves, follow)
  const of = (place: string) => moves.filter((move) => move.place === place).map(({ table }) => table)
  return { workers, distributed: of('distributed'), reference: of('reference') }
}
