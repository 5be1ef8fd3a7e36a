import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from './child-process.ts'
import { getChildOptions, run, WORKING_DIRECTORY } from './child-process.ts'

const LOG_BYTES_MAX = 5 * 1024 * 1024
const STOP_TIMEOUT_MS = 60_000
const POLL_MS = 10

/** A server that this process started. It may have exited. */
export type StartedServer = { hasExited(): boolean }

/** The log file of the server, beside the cluster. */
export function logFile(cluster: string): string {
  return `${cluster}.log`
}

/**
 * Starts the server in its own session, so that Ctrl-C in a terminal does not reach it and it
 * survives a `kill -9` of this process. Of two servers, PostgreSQL's lock file makes the second one
 * exit.
 */
export async function startPostmaster(cluster: string, binaries: string, account: Account): Promise<StartedServer> {
  await removeReusedLockFiles(cluster)
  const log = await openLog(logFile(cluster))
  const args = ['-D', WORKING_DIRECTORY, '-k', '.', '-c', 'listen_addresses=']
  const child = spawn(join(binaries, 'bin/postgres'), [...args, '-c', `cluster_name=${await readIdentity(cluster)}`], {
    ...getChildOptions(account, cluster),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  child.unref()
  await once(child, 'spawn').finally(() => log.close())
  return { hasExited: () => child.exitCode !== null || child.signalCode !== null }
}

/** Log nothing of the statements, one of which has a password, and store only its SCRAM hash. */
const SINGLE_USER = ['log_statement=none', 'log_min_error_statement=panic', 'password_encryption=scram-sha-256']

export type StoppedCluster = { cluster: string; binaries: string; account: Account }

/**
 * Executes statements on a stopped cluster that nobody else can reach meanwhile. `directory` is
 * where it is while it is made. Other processes take it for a server that starts. Returns false if
 * the cluster cannot be opened; the log of the server says why.
 */
export async function runSingleUser(
  directory: string,
  { cluster, binaries, account }: StoppedCluster,
  statements: readonly string[],
): Promise<boolean> {
  await removeReusedLockFiles(directory)
  const log = await openLog(logFile(cluster))
  const settings = [...SINGLE_USER, `cluster_name=${await readIdentity(directory)}`].flatMap((each) => ['-c', each])
  const child = spawn(join(binaries, 'bin/postgres'), ['--single', '-D', WORKING_DIRECTORY, ...settings, 'postgres'], {
    ...getChildOptions(account, directory),
    stdio: ['pipe', 'ignore', log.fd],
  })
  child.stdin?.on('error', () => {}) // a program that ends early is reported by its exit code
  child.stdin?.end(statements.map((statement) => `${statement};\n`).join(''))
  const [code] = await once(child, 'exit').finally(() => log.close())
  return code === 0
}

/** The process id of the cluster's running server, or undefined. */
export async function findPostmaster(cluster: string): Promise<number | undefined> {
  const pid = await pidIn(join(cluster, 'postmaster.pid'))
  return pid && (await isServer(cluster, pid)) ? pid : undefined
}

/**
 * Stops the server (fast mode: rolls back transactions and disconnects clients) and waits for its
 * end.
 */
export async function stopPostmaster(cluster: string): Promise<void> {
  const pid = await findPostmaster(cluster)
  if (!pid) return
  process.kill(pid, 'SIGINT')
  for (let waitedMs = 0; waitedMs < STOP_TIMEOUT_MS; waitedMs += POLL_MS) {
    if (!(await isServer(cluster, pid))) return
    await delay(POLL_MS)
  }
  throw new Error(`PostgreSQL (pid ${pid}) did not stop within ${STOP_TIMEOUT_MS / 1000} s`)
}

/** The last lines of the server's log, for error messages. */
export async function logTail(cluster: string): Promise<string> {
  const text = await readFile(logFile(cluster), 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-3).join(' | ')
}

/**
 * PostgreSQL replaces a lock file whose process has ended. It gives up if the process id now
 * belongs to another program of the same user, as after a restart of a container. This moves the
 * file aside and checks it again before deleting it, so that a file that another starter just wrote
 * is put back.
 */
async function removeReusedLockFiles(cluster: string): Promise<void> {
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(cluster, name)
    if (!(await isStale(cluster, path))) continue
    const aside = `${path}.stale-${process.pid}`
    const moved = await rename(path, aside).then(
      () => true,
      () => false,
    )
    if (!moved) continue
    if (await isStale(cluster, aside)) await rm(aside, { force: true })
    else await rename(aside, path)
  }
}

async function isStale(cluster: string, lockFile: string): Promise<boolean> {
  const pid = await pidIn(lockFile)
  return pid !== undefined && !(await isServer(cluster, pid))
}

async function pidIn(lockFile: string): Promise<number | undefined> {
  const text = await readFile(lockFile, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || undefined
}

/** The server has the cluster's identity on its command line, which every user can read. */
async function isServer(cluster: string, pid: number): Promise<boolean> {
  const commandLine =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : run('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)], { account: undefined, cwd: '/' })
  const words = (await commandLine.catch(() => '')).split(/[\0\s]/)
  return words.includes(`cluster_name=${await readIdentity(cluster)}`)
}

/** The inode. It stays the same when the directory is moved, and differs for a copy. */
async function readIdentity(cluster: string): Promise<string> {
  return `shiplock-${(await stat(cluster)).ino}`
}

async function openLog(path: string) {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_BYTES_MAX) await rename(path, `${path}.1`)
  return open(path, 'a', 0o600)
}
