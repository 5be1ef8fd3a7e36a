import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../src/access/api-keys/manage-access.ts'
import { OPERATOR_GRANTOR } from '../../src/access/grantor.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { readRunbookBlocks, settingsOf } from '../support/runbook-block.ts'

/** A primary server with a synchronous standby, and programs of ours on both. */
export type Cluster = AsyncDisposable & {
  directory: string
  primary: PostgresServer
  standby: PostgresServer
  /** Settings of every program. */
  env: Record<string, string>
  run(...args: string[]): ReturnType<typeof runProgram>
  /** Starts a program of ours, which ends with the cluster. */
  start(command: 'server' | 'worker', env?: Record<string, string>): Promise<Running>
  createKeys(count: number): Promise<CreatedKey[]>
}

const PAGE = 'operations/high-availability.md'
/** The address of the servers, and the settings of the primary one. */
const [ADDRESS = '', SYNCHRONOUS = ''] = readRunbookBlocks(PAGE, 'Primary and standby', 'ini')
export const [PROMOTION = ''] = readRunbookBlocks(PAGE, 'Promote the standby', 'sql')
const UNLIMITED = '1000000'

type CreatedKey = Awaited<ReturnType<typeof createApiKey>>

export async function startCluster(): Promise<Cluster> {
  const opened = new AsyncDisposableStack()
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
    SHIPLOCK_CONSOLE: 'off',
    SHIPLOCK_LOG_LEVEL: 'fatal',
  }
  const run = (...args: string[]) => runProgram(directory, args, env)
  const migrated = await run('migrate')
  if (migrated.code !== 0) throw new Error(migrated.stderr)
  const organization = await run('org', 'create', 'acme', '--json')
  if (organization.code !== 0) throw new Error(organization.stderr)
  return {
    directory,
    primary,
    standby,
    env,
    run,
    start: async (command, more = {}) => {
      const program = await startProgram(directory, command, { ...env, ...more })
      opened.defer(
        async () => void (program.child.exitCode ?? program.child.signalCode ?? (await program.stop('SIGKILL'))),
      )
      return program
    },
    createKeys: async (count) => {
      const [{ id }] = await primary.admin()<[{ id: string }]>`select id from organizations where slug = 'acme'`
      const request = { scopes: SCOPES, environment: 'production', expiresAt: null, grantor: OPERATOR_GRANTOR } as const
      const create = (_: unknown, at: number) =>
        primary.admin().begin((tx) => createApiKey(tx, id, { ...request, name: `load ${at}` }, new Date()))
      return Promise.all(Array.from({ length: count }, create))
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
