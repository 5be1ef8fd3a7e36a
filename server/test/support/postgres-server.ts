import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, cp, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { selectAccount } from '../../src/platform/db/embedded/account.ts'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { type Account, getChildOptions, run, WORKING_DIRECTORY } from '../../src/platform/db/embedded/child-process.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { endWithTest } from './end-with-test.ts'
import { freePort } from './free-port.ts'

const ROLE = 'shiplock'
const START_MS_MAX = 120_000
/** Fast, and able to have a standby. A killed server loses nothing by this, only a machine does. */
const SETTINGS = { fsync: 'off', listen_addresses: '127.0.0.1', max_connections: 200, wal_keep_size: '1GB' }

/** A PostgreSQL server of the test's own, on a port of the loopback address. */
export class PostgresServer {
  readonly port: number
  readonly #directory: string
  readonly #binaries: string
  readonly #account: Account
  #process: ChildProcess | null = null
  readonly #opened: Sql[] = []

  private constructor(of: { port: number; directory: string; binaries: string; account: Account }) {
    this.port = of.port
    this.#directory = of.directory
    this.#binaries = of.binaries
    this.#account = of.account
  }

  /** Starts a new server with an empty database. `directory` has the binaries of another version. */
  static async create(
    parent: string,
    settings: Record<string, string | number> = {},
    directory?: string,
  ): Promise<PostgresServer> {
    const server = await PostgresServer.#at(join(parent, 'primary'), directory)
    await run(
      join(server.#binaries, 'bin/initdb'),
      ['-D', WORKING_DIRECTORY, '-U', ROLE, '--auth=trust', '--no-sync'],
      {
        account: server.#account,
        cwd: server.#directory,
      },
    )
    await server.configure({ ...SETTINGS, ...settings, port: server.port })
    await server.start()
    await server.admin('postgres').unsafe(`create database ${ROLE}`)
    return server
  }

  static async #at(directory: string, binaries?: string): Promise<PostgresServer> {
    const account = await selectAccount(directory)
    await mkdir(directory, { mode: 0o700 })
    if (account) await chown(directory, account.uid, account.gid)
    return new PostgresServer({
      port: await freePort(),
      directory,
      binaries: await findBinaries(account, directory, binaries),
      account,
    })
  }

  /** A standby of this server that streams its changes, under this name. */
  async createStandby(name: string, settings: Record<string, string | number> = {}): Promise<PostgresServer> {
    const standby = await PostgresServer.#at(join(this.#directory, '..', name))
    const backup = openSql(this.url, { max: 1, applicationName: 'base copy' })
    try {
      await backup`select pg_backup_start('standby', fast => true)`
      await copyCluster(this.#directory, standby.#directory)
      const [{ labelfile }] = await backup<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`
      await writeFile(join(standby.#directory, 'backup_label'), labelfile)
      await writeFile(join(standby.#directory, 'standby.signal'), '')
    } finally {
      await backup.end()
    }
    const primary_conninfo = `host=127.0.0.1 port=${this.port} user=${ROLE} application_name=${name}`
    await standby.configure({ primary_conninfo, ...settings, port: standby.port })
    if (this.#account) execFileSync('chown', ['-R', `${this.#account.uid}:${this.#account.gid}`, standby.#directory])
    await standby.start()
    return standby
  }

  get url(): string {
    return `postgres://${ROLE}@127.0.0.1:${this.port}/${ROLE}`
  }

  /** A pool for the test. It ends with the server. */
  admin(database = ROLE): Sql {
    const sql = openSql(this.url.replace(/[^/]*$/, database), { max: 2, applicationName: 'test' })
    this.#opened.push(sql)
    return sql
  }

  /** Settings for the next start, or for `pg_reload_conf`. */
  async configure(settings: Record<string, string | number>): Promise<void> {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    await appendFile(join(this.#directory, 'postgresql.conf'), lines.join(''))
  }

  async start(): Promise<void> {
    const log = await open(`${this.#directory}.log`, 'a')
    const args = ['-D', WORKING_DIRECTORY, '-c', 'unix_socket_directories=']
    this.#process = spawn(join(this.#binaries, 'bin/postgres'), args, {
      ...getChildOptions(this.#account, this.#directory),
      stdio: ['ignore', log.fd, log.fd],
    })
    // Immediate shutdown: it does not wait for clients.
    endWithTest(this.#process, 'SIGQUIT')
    await log.close()
    await this.#untilAnswering()
  }

  async #untilAnswering(): Promise<void> {
    const until = performance.now() + START_MS_MAX
    for (;;) {
      const sql = openSql(this.url.replace(/[^/]*$/, 'postgres'), { max: 1, applicationName: 'test start' })
      try {
        await sql`select 1`
        return
      } catch (error) {
        if (performance.now() > until || this.#process?.exitCode !== null)
          throw new Error(`PostgreSQL did not start; see ${this.#directory}.log`, { cause: error })
      } finally {
        await sql.end({ timeout: 0 })
      }
    }
  }

  /** The server and all of its processes end at once, without a last word. */
  async kill(): Promise<void> {
    await this.#signalAll('SIGKILL')
  }

  /** All of its processes stand still, as on a machine that hangs. */
  freeze(): Promise<void> {
    return this.#signalAll('SIGSTOP')
  }

  thaw(): Promise<void> {
    return this.#signalAll('SIGCONT')
  }

  async close(): Promise<void> {
    for (const sql of this.#opened) await sql.end({ timeout: 0 })
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.kill()
  }

  async #signalAll(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this.#process ?? {}
    if (pid === undefined) return
    const exited = signal === 'SIGKILL' ? once(this.#process as ChildProcess, 'exit') : undefined
    const children = await childrenOf(pid)
    for (const id of [pid, ...children]) {
      try {
        process.kill(id, signal)
      } catch {
        // It has ended by itself.
      }
    }
    await exited
  }
}

async function childrenOf(parent: number): Promise<number[]> {
  const listed = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
}

/** What a running server must not share with its copy (PostgreSQL manual, 25.3.4). */
const OWN = ['postmaster.pid', 'postmaster.opts']

async function copyCluster(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'pg_wal', 'archive_status'), { recursive: true, mode: 0o700 })
  for (const name of await readdir(from)) {
    if (OWN.includes(name) || name === 'pg_wal') continue
    await cp(join(from, name), join(to, basename(name)), { recursive: true })
  }
}
