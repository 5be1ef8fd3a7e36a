import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATABASE } from '../../src/platform/db/embedded/cluster.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrations/migrate.ts'
import { type DatabaseAddress, openSql, type Sql } from '../../src/platform/db/sql.ts'
import { citusWorkers, closeTemplate, distributeTemplate, joinDatabases, onServer, readNodes } from './citus.ts'
import { CLUSTER_TEMPLATE, makeClusterTemplate } from './cluster-template.ts'

export type TestDatabase = {
  /** For psql. */
  url: string
  /** For our own clients. */
  connection: Exclude<DatabaseAddress, string>
  drop(): Promise<void>
}

/**
 * A PostgreSQL server for tests, with a migrated template to clone; it and its data are gone after
 * close.
 */
export type TestServer = {
  url: string
  /** Null if the server was not started by us. */
  logFile: string | null
  /** What the test files have to know of it. */
  env: Record<string, string>
  close(): Promise<void>
}

const TEMPLATE = 'template_shiplock'
const OBJECT_IN_USE = '55006'

/** Nothing here has to survive a crash. */
const THROW_AWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
  max_connections: 300,
  // The tests connect thousands of times.
  scram_iterations: 1,
}

/** Starts the server that all test files of one run share. */
export async function startTestServer(): Promise<TestServer> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'shiplock-test-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const open = () => openEmbeddedPostgres({ dataDir, settings: THROW_AWAY })
  const first = await open()
  await migrateDatabase(first, DATABASE).finally(first.close)
  const env = { [CLUSTER_TEMPLATE]: makeClusterTemplate(dataDir) }
  const server = await open()
  opened.defer(server.close)
  await withAdmin(server.connection, (sql) => sql.unsafe(`create database ${TEMPLATE}`))
  await migrateDatabase(server, TEMPLATE)
  const kept = opened.move()
  const { host, port, user, password, database } = server.connection
  const url = `postgres://${user}:${password}@${encodeURIComponent(host)}:${port}/${database}`
  return { url, logFile: server.logFile, env, close: () => kept.disposeAsync() }
}

/**
 * A cluster that is running already, with a migrated and distributed template on all of its servers.
 */
export async function startCitusServer(url: string): Promise<TestServer> {
  const given = connectionOf(url)
  const nodes = await withAdmin(given, readNodes)
  const servers = [given, ...nodes.workers.map((worker) => onServer(given, worker))]
  const dropTemplate = () =>
    onAll(servers, async (sql) => {
      await sql`update pg_database set datallowconn = true where datname = ${TEMPLATE}`
      await sql.unsafe(`drop database if exists ${TEMPLATE} with (force)`)
    })
  await dropTemplate()
  await onAll(servers, (sql) => sql.unsafe(`create database ${TEMPLATE}`))
  const templates = servers.map((server) => ({ ...server, database: TEMPLATE }))
  await onAll(templates, (sql) => sql`create extension citus`)
  const [coordinator] = templates as [typeof given]
  await withAdmin(coordinator, (sql) => joinDatabases(sql, nodes))
  await withAdmin(coordinator, (sql) => migrate(sql))
  await withAdmin(coordinator, distributeTemplate)
  await onAll(servers, (sql) => closeTemplate(sql, TEMPLATE))
  return {
    url,
    logFile: null,
    env: { SHIPLOCK_TEST_CITUS_WORKERS: JSON.stringify(nodes.workers) },
    close: dropTemplate,
  }
}

/**
 * A database of its own with the current schema. A file that is run by hand, without the runner,
 * brings its server.
 */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(cloneTemplate)
}

/** A database of its own without any tables. */
export function createEmptyTestDatabase(): Promise<TestDatabase> {
  return createDatabase((sql, database) => sql.unsafe(`create database ${database}`))
}

async function createDatabase(create: (sql: Sql, database: string) => Promise<unknown>): Promise<TestDatabase> {
  const url = process.env.SHIPLOCK_TEST_DATABASE_URL
  const server = url ? { url, close: async () => {} } : await startTestServer()
  const admin = connectionOf(server.url)
  const database = `test_${randomUUID().replaceAll('-', '')}`
  const servers = [admin, ...citusWorkers().map((worker) => onServer(admin, worker))]
  await onAll(servers, (sql) => create(sql, database))
  return {
    url: server.url.replace(/[^/]*$/, database),
    connection: { ...admin, database },
    drop: async () => {
      await onAll(servers, (sql) => sql.unsafe(`drop database ${database} with (force)`))
      await server.close()
    },
  }
}

async function migrateDatabase({ connection }: EmbeddedPostgres, database: string): Promise<void> {
  await withAdmin({ ...connection, database }, (sql) => migrate(sql))
}

/**
 * A template cannot be cloned while someone is connected to it, such as autovacuum; that passes.
 */
async function cloneTemplate(sql: Sql, database: string): Promise<void> {
  for (;;) {
    try {
      await sql.unsafe(`create database ${database} template ${TEMPLATE} strategy file_copy`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE) throw error
    }
  }
}

/** One after the other: the database of a coordinator goes before those of its workers. */
async function onAll(servers: readonly DatabaseAddress[], use: (sql: Sql) => Promise<unknown>): Promise<void> {
  for (const server of servers) await withAdmin(server, use)
}

async function withAdmin<T>(connection: DatabaseAddress, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openSql(connection, { max: 1, applicationName: 'test' })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}

/** The parts of an address whose host is a socket's directory. */
function connectionOf(address: string): TestDatabase['connection'] {
  const { hostname, port, pathname, username, password } = new URL(address)
  const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  return { host: decodeURIComponent(hostname), port: Number(port), database: pathname.slice(1), ...login }
}
