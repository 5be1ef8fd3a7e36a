import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadPassword, ROLE } from '../../src/platform/db/embedded/password.ts'
import { findPostmaster } from '../../src/platform/db/embedded/postmaster.ts'
import { PORT, selectSocketDirectory } from '../../src/platform/db/embedded/socket-directory.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { selectPort } from '../../src/platform/http/listener.ts'
import type { Json } from '../support/json.ts'
import { processTree } from './process-tree.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const DATABASE = 'shiplock'

/** The program with its own PostgreSQL, on one port and one data directory. */
export class Installation {
  readonly dataDir: string
  readonly url: string
  readonly settings: Record<string, string>
  #child: ChildProcess | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #said = ''

  constructor(dataDir: string, port: number, settings: Record<string, string>) {
    this.dataDir = dataDir
    this.url = `http://127.0.0.1:${port}`
    this.settings = {
      ...{ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_PORT: `${port}`, SHIPLOCK_LOG_LEVEL: 'warn' },
      ...{ SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0', SHIPLOCK_CONNECTIONS_PER_ADDRESS: '0' },
      ...settings,
    }
  }

  static async create(dataDir: string, settings: Record<string, string>): Promise<Installation> {
    const port = await selectPort('127.0.0.1', 0)
    await port.release()
    return new Installation(dataDir, port.number, settings)
  }

  /**
   * Starts the program. Returns a promise of what it prints when it is ready; null if it is killed
   * before.
   */
  start(): Promise<Json | null> {
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [MAIN, 'start', '--json'], {
      env: { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...this.settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#exited = once(child, 'exit')
    this.#said = ''
    child.stderr.on('data', (chunk) => {
      this.#said = (this.#said + chunk).slice(-4000)
    })
    return firstLine(child)
  }

  /** The end of what the program wrote to its log since the last start. */
  get said(): string {
    return this.#said
  }

  /**
   * Ends the program and PostgreSQL with all their processes, as a power failure does: nothing can
   * finish what it does. First all are stopped, so that none sees the end of another.
   */
  async kill(): Promise<void> {
    const postmaster = await findPostmaster(join(this.dataDir, 'postgres')).catch(() => undefined)
    const roots = [this.#child?.pid, postmaster].filter((pid) => pid !== undefined)
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const)
      for (const pid of roots.flatMap(processTree)) send(pid, signal)
    await this.#exited
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.#exited
  }

  /** A connection to the database of the running program. */
  async openSql(): Promise<Sql> {
    const host = await selectSocketDirectory(join(this.dataDir, 'postgres'))
    const { password } = await loadPassword(this.dataDir)
    const login = { database: DATABASE, user: ROLE, password }
    return openSql({ host, port: PORT, ...login }, { max: 2, applicationName: 'crash test' })
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<Json | null> {
  if (!stdout) return null
  const lines = createInterface({ input: stdout })
  const line = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [null])])
  return line[0] === null ? null : JSON.parse(line[0])
}
