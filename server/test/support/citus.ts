import { distributeTables, listDueMoves } from '../../src/distribution/distribute-tables.ts'
import { type DatabaseAddress, openSql, type Sql } from '../../src/platform/db/sql.ts'

type Address = Exclude<DatabaseAddress, string>

/** Most tests have a handful of organizations; more shards take longer to create. */
const SHARDS = 2

/** The servers beside the coordinator in the run of `npm run test:citus`; none in other runs. */
export function citusWorkers(): { host: string; port: number }[] {
  return JSON.parse(process.env.SHIPLOCK_TEST_CITUS_WORKERS ?? '[]')
}

/**
 * Options of a test that reads plans, adds triggers, or changes columns behind the program's back:
 * on several servers, a plan has only the parts of the coordinator, and the others are refused.
 */
export const ON_ONE_SERVER = { skip: citusWorkers().length > 0 && 'for one database server' }

type Nodes = { coordinator: { host: string; port: number }; workers: { host: string; port: number }[] }

/** The servers that the coordinator knows in the database of an address. */
export async function readNodes(sql: Sql): Promise<Nodes> {
  const nodes = await sql<{ host: string; port: number; is_coordinator: boolean }[]>`
    select nodename as host, nodeport as port, groupid = 0 as is_coordinator
    from pg_dist_node
    where noderole = 'primary'
    order by groupid`
  const at = ({ host, port }: { host: string; port: number }) => ({ host, port })
  const coordinator = nodes.find((node) => node.is_coordinator)
  const workers = nodes.filter((node) => !node.is_coordinator).map(at)
  if (!coordinator || workers.length === 0)
    throw new Error('SHIPLOCK_TEST_CITUS_URL needs a database in which Citus knows the coordinator and a worker')
  return { coordinator: at(coordinator), workers }
}

/** Joins new databases of the same name on all servers. */
export async function joinDatabases(sql: Sql, { coordinator, workers }: Nodes): Promise<void> {
  await sql`select citus_set_coordinator_host(${coordinator.host}, ${coordinator.port})`
  for (const { host, port } of workers) await sql`select citus_add_node(${host}, ${port})`
}

/**
 * Joins an empty test database on all servers, as an operator does before the distribution. Returns
 * false if the tests run on a single server.
 */
export async function joinTestDatabase({ connection }: { connection: Address }): Promise<boolean> {
  const workers = citusWorkers()
  if (workers.length === 0) return false
  for (const server of [connection, ...workers.map((worker) => onServer(connection, worker))])
    await useSql(server, (sql) => sql`create extension citus`)
  await useSql(connection, async (sql) => {
    await joinDatabases(sql, { coordinator: connection, workers })
    await sql.unsafe(`alter database ${connection.database} set citus.shard_count = ${SHARDS}`)
  })
  return true
}

export async function useSql<Result>(address: Address, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = openSql(address, { max: 1, applicationName: 'test' })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}

/** Distributes an empty migrated database, which others are cloned from. */
export async function distributeTemplate(sql: Sql): Promise<void> {
  await sql.unsafe(`set citus.shard_count = ${SHARDS}`)
  await distributeTables(sql, await listDueMoves(sql))
}

/** Citus is at work in a database that someone has connected to, and one in use cannot be cloned. */
export async function closeTemplate(sql: Sql, name: string): Promise<void> {
  await sql`update pg_database set datallowconn = false where datname = ${name}`
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
}

export function onServer(address: Address, server: { host: string; port: number }): Address {
  return { ...address, ...server }
}
