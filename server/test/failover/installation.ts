import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../src/access/manage-access.ts'
import { OPERATOR_GRANTOR, SCOPES } from '../../src/access/scopes.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createTestDatabase } from '../support/database.ts'
import { Programs } from './programs.ts'

/** An organization on a database of its own, and programs of ours on it. All end with it. */
export type Installation = AsyncDisposable & {
  directory: string
  /** For the test. */
  sql: Sql
  key: string
  programs: Programs
}

export async function createInstallation(settings: Record<string, string> = {}): Promise<Installation> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-failover-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const database = await createTestDatabase()
  opened.defer(() => database.drop())
  const sql = openSql(database.connection, { max: 3, applicationName: 'test' })
  opened.defer(() => sql.end())
  const programs = opened.use(new Programs(directory, { ...settings, ...UNLIMITED, DATABASE_URL: database.url }))
  const created = await programs.run('org', 'create', 'acme', '--plan', 'enterprise', '--json')
  if (created.code !== 0) throw new Error(created.stderr)
  const [key] = await createKeys(sql, 1)
  const open = opened.move()
  return { directory, sql, key: key?.key ?? '', programs, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

const UNLIMITED = { SHIPLOCK_RATE_LIMIT_PER_MINUTE: '1000000' }

type CreatedKey = Awaited<ReturnType<typeof createApiKey>>

/** Keys of the organization `acme` with every scope. */
export async function createKeys(sql: Sql, count: number): Promise<CreatedKey[]> {
  const [{ id }] = await sql<[{ id: string }]>`select id from organizations where slug = 'acme'`
  const request = { scopes: SCOPES, environment: 'production', expiresAt: null, grantor: OPERATOR_GRANTOR } as const
  const create = (_: unknown, at: number) =>
    sql.begin((tx) => createApiKey(tx, id, { ...request, name: `load ${at}` }, new Date()))
  return Promise.all(Array.from({ length: count }, create))
}
