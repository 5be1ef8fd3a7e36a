import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../src/access/api-keys/manage-access.ts'
import { SCOPES } from '../src/access/scopes.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts'
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

type Shiplock = { url: string; organization: { id: string }; key: { key: string } }

/** Opens the setting on a temporary directory, uses it, and removes it. */
export async function withSetting<Result>(use: (setting: Setting) => Promise<Result>): Promise<Result> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-bench-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await openEmbeddedPostgres({ dataDir: directory })
  opened.defer(() => postgres.close())
  const sql = openSql(postgres.connection, { max: 2, applicationName: 'bench' })
  opened.defer(() => sql.end())

  const env = environmentOf(directory)
  const shiplock = await startProgram<Shiplock>(SHIPLOCK, env)
  opened.defer(shiplock.stop)
  const bare = await startProgram<{ url: string }>(BARE, env)
  opened.defer(bare.stop)

  const { url, organization, key } = shiplock.ready
  const ours = { url, orgId: organization.id, key: key.key }
  return await use({
    directory,
    sql,
    ours,
    bare: bare.ready,
    createKeys: (count) => createKeys(sql, ours.orgId, count),
  })
}

/** Everything as it comes, but for the general rate limit and the port. */
export function environmentOf(directory: string): Record<string, string> {
  return {
    DATABASE_URL: '',
    SHIPLOCK_DATA_DIR: directory,
    SHIPLOCK_PORT: '0',
    SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0',
    SHIPLOCK_LOG_LEVEL: 'error',
  }
}

function createKeys(sql: Sql, orgId: string, count: number): Promise<string[]> {
  const request = { scopes: SCOPES, environment: 'production', createdBy: 'bench', lifetimeMs: null } as const
  const create = async (_: unknown, at: number) =>
    (await createApiKey(sql, orgId, { ...request, name: `bench ${at}` }, new Date())).key
  return Promise.all(Array.from({ length: count }, create))
}
