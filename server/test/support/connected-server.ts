import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { PORT, socketDirectory } from '../../src/platform/db/embedded/socket-directory.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { type FakeGitHub, startFakeGitHub } from './github/fake-github.ts'
import type { Installation, Repository } from './github/types.ts'
import type { Json } from './json.ts'
import { type Running, runProgram, startProgram } from './program.ts'

const POLL_MS = 50
const WAIT_MS_MAX = 60_000
const DATABASE = 'shiplock'

/** The real program, connected to a fake GitHub. */
export type ConnectedServer = {
  fake: FakeGitHub
  url: string
  dataDir: string
  /** The database of the program. */
  sql: Sql
  /** Answers the `data` of a GET. */
  get(path: string): Promise<Json>
  post(path: string, body: object, key?: string): Promise<{ status: number; body: Json }>
  /** Runs a command and answers what it printed. */
  command(...args: string[]): Promise<Json>
  /** Installs the App in an account, connects it, and waits for the import. */
  connect(login: string, repositories?: Repository[]): Promise<Connected>
  /** Waits until every delivery has been sent and applied, and no job and no call is due. */
  settled(): Promise<void>
  /** Polls until the value fits. The error of a time-out shows the last value. */
  until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value>
  restart(signal?: NodeJS.Signals, env?: Record<string, string>): Promise<void>
  close(): Promise<void>
}

export type Connected = { installation: Installation; connection: Json }

/** Starts the program on a database of its own. Nothing is connected yet. */
export async function startConnectedServer(env: Record<string, string> = {}): Promise<ConnectedServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-github-'))
  const fake = await startFakeGitHub()
  const settings = () => ({ ...githubSettings(fake), ...env })
  let running = await startProgram(dataDir, 'start', settings())
  const key = running.ready.key.key
  const follow = (now: Running) => {
    running = now
    fake.webhooks.url = `${now.ready.url}/webhooks/github`
  }
  follow(running)
  const sql = await openDatabaseOf(dataDir)
  const headersOf = (bearer: string) => ({ authorization: `Bearer ${bearer}`, 'content-type': 'application/json' })
  const server: ConnectedServer = {
    fake,
    dataDir,
    sql,
    get url() {
      return running.ready.url
    },
    async get(path) {
      const answer = await fetch(`${running.ready.url}${path}`, { headers: headersOf(key) })
      const body = (await answer.json()) as Json
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(body)}`)
      return body.data
    },
    async post(path, body, bearer = key) {
      const options = { method: 'POST', headers: headersOf(bearer), body: JSON.stringify(body) }
      const answer = await fetch(`${running.ready.url}${path}`, options)
      return { status: answer.status, body: (await answer.json()) as Json }
    },
    async command(...args) {
      const { code, json, stderr } = await runProgram(dataDir, [...args, '--json'], settings())
      if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`)
      return json
    },
    async connect(login, repositories) {
      const installation = fake.install(login, repositories)
      await fake.webhooks.settled()
      const about = ['--org', 'default', '--provider', 'github', '--installation', String(installation.id)]
      const connection = await server.command('provider', 'connect', ...about)
      await server.settled()
      return { installation, connection }
    },
    async settled() {
      await fake.webhooks.settled()
      await until(
        () => listDue(sql),
        (due) => due.length === 0,
      )
    },
    until,
    async restart(signal = 'SIGTERM', changed = {}) {
      await running.stop(signal)
      Object.assign(env, changed)
      follow(await startProgram(dataDir, 'start', settings()))
    },
    async close() {
      await fake.close()
      await sql.end()
      await running.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return server
}

async function openDatabaseOf(dataDir: string): Promise<Sql> {
  const host = await socketDirectory(join(dataDir, 'postgres'))
  return openSql({ host, port: PORT, database: DATABASE, user: DATABASE }, { max: 1, applicationName: 'test' })
}

/**
 * What the program is about to do: deliveries to apply, calls to send, jobs that are due. A job
 * that is tried again within a minute is due; one of the next hour is not. A landing whose checks
 * are not known is not due.
 */
async function listDue(sql: Sql): Promise<string[]> {
  const rows = await sql<{ due: string }[]>`
    select 'delivery ' || id || ' ' || coalesce(error, '') as due
    from codehost_deliveries
    where status = 'received'
      and not waiting
    union all
    select 'call ' || idempotency_key || ' ' || coalesce(error, '')
    from codehost_calls
    where status = 'pending'
    union all
    select 'synchronization of ' || account_login || ' ' || coalesce(sync_error, '')
    from codehost_connections
    where status = 'active'
      and (sync_state <> 'idle' or last_synced_at is null)
    union all
    select 'job ' || task_identifier || ' ' || coalesce(last_error, '')
    from graphile_worker.jobs
    where attempts < max_attempts
      and (locked_at is not null or run_at < now() + interval '1 minute')
      and not (task_identifier = 'provenance.record-changes' and run_at > now() + interval '10 seconds')`
  return rows.map(({ due }) => due)
}

function githubSettings({ settings }: FakeGitHub): Record<string, string> {
  return {
    SHIPLOCK_GITHUB_APP_ID: String(settings.appId),
    SHIPLOCK_GITHUB_PRIVATE_KEY: settings.privateKey,
    SHIPLOCK_GITHUB_WEBHOOK_SECRET: settings.webhookSecret,
    SHIPLOCK_GITHUB_API_URL: settings.apiUrl,
  }
}

async function until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (;;) {
    const value = await read()
    if (fits(value)) return value
    if (performance.now() > deadline) throw new Error(`Still ${JSON.stringify(value, null, 2)}`)
    await setTimeout(POLL_MS)
  }
}
