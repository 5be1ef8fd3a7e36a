import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../src/access/manage-access.ts'
import { OPERATOR_GRANTOR, SCOPES } from '../src/access/scopes.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import type { PostgresSettings } from '../src/platform/db/embedded/settings.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { BARE, SHIPLOCK, startProgram } from './child-program.ts'

/**
 * What the benchmarks share: one PostgreSQL with the durable settings, and on it our server and the
 * bare one.
 */
export type Setting = {
  directory: string
  sql: Sql
  ours: { url: string; orgId: string; key: string }
  bare: { url: string }
  /** So many more keys of our organization. */
  createKeys(count: number): Promise<string[]>
}

type Started = { url: string; organization: { id: string }; key: { key: string } }

/** Our server on a temporary directory with a PostgreSQL. */
export type Shiplock = Pick<Setting, 'directory' | 'sql' | 'ours'>

/** Opens the setting on a temporary directory, uses it, and removes it. */
export function withSetting<Result>(use: (setting: Setting) => Promise<Result>): Promise<Result> {
  return withShiplock({}, async (shiplock) => {
    const bare = await startProgram<{ url: string }>(BARE, environmentOf(shiplock.directory))
    try {
      const keysOf = (count: number) => createKeys(shiplock.sql, shiplock.ours.orgId, count)
      return await use({ ...shiplock, bare: bare.ready, createKeys: keysOf })
    } finally {
      await bare.stop()
    }
  })
}

/** Starts our server on a PostgreSQL with these settings, uses it, and removes it. */
export async function withShiplock<Result>(
  settings: PostgresSettings,
  use: (shiplock: Shiplock) => Promise<Result>,
): Promise<Result> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-bench-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await openEmbeddedPostgres({ dataDir: directory, settings })
  opened.defer(() => postgres.close())
  const sql = openSql(postgres.connection, { max: 2, applicationName: 'bench', statementTimeoutMs: 0 })
  opened.defer(() => sql.end())
  const shiplock = await startProgram<Started>(SHIPLOCK, environmentOf(directory))
  opened.defer(shiplock.stop)
  const { url, organization, key } = shiplock.ready
  return await use({ directory, sql, ours: { url, orgId: organization.id, key: key.key } })
}

/** Everything as it comes, but for the general rate limit and the port. */
export function environmentOf(directory: string): Record<string, string> {
  return {
    DATABASE_URL: '',
    SHIPLOCK_DATA_DIR: directory,
    SHIPLOCK_PORT: '0',
    SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0',
    SHIPLOCK_LOG_LEVEL: 'error',
    // Issuers of the benchmarks are on loopback.
    SHIPLOCK_ALLOWED_NETWORKS: '127.0.0.0/8',
  }
}

function createKeys(sql: Sql, orgId: string, count: number): Promise<string[]> {
  const request = { scopes: SCOPES, environment: 'production', expiresAt: null, grantor: OPERATOR_GRANTOR } as const
  const create = async (_: unknown, at: number) =>
    (await sql.begin((tx) => createApiKey(tx, orgId, { ...request, name: `bench ${at}` }, new Date()))).key
  return Promise.all(Array.from({ length: count }, create))
}
