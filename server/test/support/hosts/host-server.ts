import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadPassword, ROLE } from '../../../src/platform/db/embedded/password.ts'
import { PORT, selectSocketDirectory } from '../../../src/platform/db/embedded/socket-directory.ts'
import { openSql, type Sql } from '../../../src/platform/db/sql.ts'
import { freePort } from '../free-port.ts'
import type { Json } from '../json.ts'
import { type Running, runProgram, startProgram } from '../program.ts'
import { listDue, startDelayedReads } from './due-work.ts'
import type { FakeHost } from './fake-host.ts'
import { until } from './until-fits.ts'

const DATABASE = 'shiplock'

/** The real program on a database of its own, beside fake code hosts. */
export class HostServer {
  readonly hosts: readonly FakeHost[]
  readonly dataDir: string
  /** The database of the program. */
  readonly sql: Sql
  readonly until = until
  readonly #env: Record<string, string>
  readonly #key: string
  #running: Running

  constructor(started: {
    hosts: readonly FakeHost[]
    dataDir: string
    sql: Sql
    env: Record<string, string>
    running: Running
  }) {
    this.hosts = started.hosts
    this.dataDir = started.dataDir
    this.sql = started.sql
    this.#env = started.env
    this.#running = started.running
    this.#key = started.running.ready.key.key
    this.#follow(started.running)
  }

  #follow(running: Running): void {
    this.#running = running
    for (const host of this.hosts) host.follow(running.ready.url)
  }

  #settings(): Record<string, string> {
    return { ...settingsOf(this.hosts), ...this.#env }
  }

  get url(): string {
    return this.#running.ready.url
  }

  /** Answers the `data` of a GET. */
  async get(path: string): Promise<Json> {
    const { status, body } = await this.request('GET', path)
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
    return body.data
  }

  post(path: string, body: object, key?: string): Promise<{ status: number; body: Json }> {
    return this.request('POST', path, body, key)
  }

  async request(method: string, path: string, body?: object, key = this.#key): Promise<{ status: number; body: Json }> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${this.url}${path}`, { method, headers, ...sent })
    return { status: answer.status, body: (await answer.json()) as Json }
  }

  /** Runs a command and answers what it printed. */
  command(...args: string[]): Promise<Json> {
    return this.commandWithInput('', ...args)
  }

  async commandWithInput(input: string, ...args: string[]): Promise<Json> {
    const { code, json, stderr } = await runProgram(this.dataDir, [...args, '--json'], this.#settings(), input)
    if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`)
    return json
  }

  secretFile(secret: string): string {
    const path = join(mkdtempSync(join(this.dataDir, 'secret-')), 'secret')
    writeFileSync(path, secret, { mode: 0o600 })
    return path
  }

  /** Connects an account of a host, and waits for the import. */
  async connectAccount(host: FakeHost, login: string): Promise<Json> {
    const connection = await host.connect(this, login)
    await this.settled()
    return connection
  }

  /** Waits until every delivery has been sent and applied, and no job and no call is due. */
  async settled(): Promise<void> {
    let sent = await this.#countSent()
    for (;;) {
      await until(
        async () => {
          await startDelayedReads(this.sql)
          return listDue(this.sql)
        },
        (due) => due.length === 0,
      )
      // A job can ask a host to repeat a delivery, which then arrives after the job.
      const before = sent
      sent = await this.#countSent()
      if (sent === before) return
    }
  }

  /** The number of tries of all deliveries, when none is under way. */
  async #countSent(): Promise<number> {
    const tries: unknown[] = []
    for (const { webhooks } of this.hosts) {
      await webhooks.settled()
      tries.push(...webhooks.all.flatMap((delivery) => delivery.tries))
    }
    return tries.length
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM', changed: Record<string, string> = {}): Promise<void> {
    await this.#running.stop(signal)
    Object.assign(this.#env, changed)
    this.#follow(await startProgram(this.dataDir, 'start', this.#settings()))
  }

  async close(): Promise<void> {
    for (const host of this.hosts) await host.close()
    await this.sql.end()
    await this.#running.stop()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

function settingsOf(hosts: readonly FakeHost[]): Record<string, string> {
  return Object.assign({}, ...hosts.map((host) => host.settings()))
}

/** What a `HostServer` is made of. Nothing is connected yet. */
export async function startParts(env: Record<string, string>, hosts: readonly FakeHost[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-hosts-'))
  const settings = { ...(await addressSettings(hosts)), ...env }
  const running = await startProgram(dataDir, 'start', { ...settingsOf(hosts), ...settings })
  const host = await selectSocketDirectory(join(dataDir, 'postgres'))
  const { password } = await loadPassword(dataDir)
  const about = { host, port: PORT, database: DATABASE, user: ROLE, password }
  const sql = await openSql(about, { max: 1, applicationName: 'test' })
  return { hosts, dataDir, sql, env: settings, running }
}

/** Webhooks that the program has registered at a host still reach it after a restart. */
async function addressSettings(hosts: readonly FakeHost[]): Promise<Record<string, string>> {
  return hosts.every(({ provider }) => provider === 'github') ? {} : { SHIPLOCK_PORT: String(await freePort()) }
}

export async function startHostServer(
  hosts: readonly FakeHost[],
  env: Record<string, string> = {},
): Promise<HostServer> {
  return new HostServer(await startParts(env, hosts))
}
