import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer } from '../support/postgres-server.ts'
import { readRunbookBlocks, settingsOf } from '../support/runbook-block.ts'
import { Programs } from './programs.ts'

/** A primary server with a synchronous standby, and programs of ours on both. */
export type Cluster = AsyncDisposable & { primary: PostgresServer; standby: PostgresServer; programs: Programs }

const PAGE = 'operations/high-availability.md'
/** The address of the servers, and the settings of the primary one. */
const [ADDRESS = '', SYNCHRONOUS = ''] = readRunbookBlocks(PAGE, 'Primary and standby', 'ini')
export const [PROMOTION = ''] = readRunbookBlocks(PAGE, 'Promote the standby', 'sql')
const UNLIMITED = '1000000'

export async function startCluster(): Promise<Cluster> {
  await using opened = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-failover-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const primary = await PostgresServer.create(directory)
  opened.defer(() => primary.close())
  const standby = await primary.createStandby('standby')
  opened.defer(() => standby.close())
  await primary.configure(settingsOf(SYNCHRONOUS))
  await primary.admin()`select pg_reload_conf()`
  const databaseUrl = ADDRESS.replace('DATABASE_URL=', '')
    .replace('db1.example:5432', `127.0.0.1:${primary.port}`)
    .replace('db2.example:5432', `127.0.0.1:${standby.port}`)
  const env = {
    DATABASE_URL: databaseUrl,
    SHIPLOCK_SECRET_KEY: 'a secret key of the failover tests',
    SHIPLOCK_RATE_LIMIT_PER_MINUTE: UNLIMITED,
  }
  const programs = opened.use(new Programs(directory, env))
  const migrated = await programs.run('migrate')
  if (migrated.code !== 0) throw new Error(migrated.stderr)
  const organization = await programs.run('org', 'create', 'acme', '--json')
  if (organization.code !== 0) throw new Error(organization.stderr)
  const open = opened.move()
  return { primary, standby, programs, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
