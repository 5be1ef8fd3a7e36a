import { randomUUID } from 'node:crypto'
import { distributeTables, listDueMoves } from '../../src/distribution/distribute-tables.ts'
import { migrate } from '../../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { joinDatabases, readNodes } from './citus.ts'

export type CitusDatabases = {
  /** On all servers of the cluster, with Citus' own number of shards. */
  distributed: string
  /** On the coordinator alone. */
  single: string
  drop(): Promise<void>
}

/** Migrated databases to compare. `url` is that of any database on the coordinator. */
export async function openCitusDatabases(url: string): Promise<CitusDatabases> {
  const suffix = randomUUID().slice(0, 8)
  const [distributed, single] = [`bench_cluster_${suffix}`, `bench_single_${suffix}`]
  const nodes = await withUrl(url, readNodes)
  const servers = [url, ...nodes.workers.map(({ host, port }) => onServer(url, `${host}:${port}`))]
  for (const server of servers) {
    await withUrl(server, (sql) => sql.unsafe(`create database ${distributed}`))
    await withUrl(inDatabase(server, distributed), (sql) => sql`create extension citus`)
  }
  await withUrl(url, (sql) => sql.unsafe(`create database ${single}`))
  await withUrl(inDatabase(url, distributed), (sql) => joinDatabases(sql, nodes))
  for (const name of [distributed, single]) {
    await withUrl(inDatabase(url, name), (sql) => migrate(sql))
  }
  await withUrl(inDatabase(url, distributed), async (sql) => distributeTables(sql, await listDueMoves(sql)))
  const drop = async () => {
    for (const server of servers)
      await withUrl(server, (sql) => sql.unsafe(`drop database ${distributed} with (force)`))
    await withUrl(url, (sql) => sql.unsafe(`drop database ${single} with (force)`))
  }
  return { distributed: inDatabase(url, distributed), single: inDatabase(url, single), drop }
}

async function withUrl<Result>(url: string, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  const sql = openSql(url, { max: 1, applicationName: 'bench', statementTimeoutMs: 0 })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}

function inDatabase(url: string, name: string): string {
  return url.replace(/[^/]*$/, name)
}

function onServer(url: string, host: string): string {
  const other = new URL(url)
  other.host = host
  return other.href
}
