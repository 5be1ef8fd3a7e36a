import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from './account.ts'
import { childOptions, run, WORKING_DIRECTORY } from './child-process.ts'

const LOG_BYTES_MAX = 5 * 1024 * 1024
const STOP_TIMEOUT_MS = 60_000
const POLL_MS = 10

/** A server that this process started, and that may have given up. */
export type StartedServer = { hasExited(): boolean }

/** Where the server of a cluster writes its log, beside the cluster. */
export function logFile(cluster: string): string {
  return `${cluster}.log`
}

/**
 * Starts the server in a session of its own: Ctrl-C in a terminal does not reach it, and it outlives a `kill -9` of us.
 * Two at once are settled by PostgreSQL's own lock file: the second exits.
 */
export async function startPostmaster(cluster: string, binaries: string, account: Account): Promise<StartedServer> {
  await removeReusedLockFiles(cluster)
  const log = await openLog(logFile(cluster))
  const args = ['-D', WORKING_DIRECTORY, '-k', '.', '-c', 'listen_addresses=']
  const child = spawn(join(binaries, 'bin/postgres'), [...args, '-c', `cluster_name=${await identityOf(cluster)}`], {
    ...childOptions(account, cluster),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  child.unref()
  await once(child, 'spawn').finally(() => log.close())
  return { hasExited: () => child.exitCode !== null || child.signalCode !== null }
}

/** The process id of the cluster's running server, undefined when none runs. */
export async function findPostmaster(cluster: string): Promise<number | undefined> {
  const pid = await pidIn(join(cluster, 'postmaster.pid'))
  return pid && (await isServerOf(cluster, pid)) ? pid : undefined
}

/** Stops the server (fast: transactions are rolled back, clients disconnected) and waits until it is gone. */
export async function stopPostmaster(cluster: string): Promise<void> {
  const pid = await findPostmaster(cluster)
  if (!pid) return
  process.kill(pid, 'SIGINT')
  for (let waitedMs = 0; waitedMs < STOP_TIMEOUT_MS; waitedMs += POLL_MS) {
    if (!(await isServerOf(cluster, pid))) return
    await delay(POLL_MS)
  }
  throw new Error(`PostgreSQL (pid ${pid}) has not stopped within ${STOP_TIMEOUT_MS / 1000} s`)
}

/** The last lines of the server's log, for an error message. */
export async function logTail(cluster: string): Promise<string> {
  const text = await readFile(logFile(cluster), 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-3).join(' | ')
}

/**
 * PostgreSQL replaces a lock file whose process is gone, but gives up when the id now belongs to another program of the
 * same user, as after the restart of a container. The file is moved aside and looked at again before it is dropped, so
 * that one which another starter wrote in between is put back.
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
  return pid !== undefined && !(await isServerOf(cluster, pid))
}

async function pidIn(lockFile: string): Promise<number | undefined> {
  const text = await readFile(lockFile, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || undefined
}

/** The server carries the cluster's identity on its command line, which every user may read. */
async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  const words = (await commandLine(pid)).split(/[\0\s]/)
  return words.includes(`cluster_name=${await identityOf(cluster)}`)
}

/** The inode: it stays when the directory is moved, and differs in a copy, which is another cluster. */
async function identityOf(cluster: string): Promise<string> {
  return `shiplock-${(await stat(cluster)).ino}`
}

async function commandLine(pid: number): Promise<string> {
  const text =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8')
      : run('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)], { account: undefined, cwd: '/' })
  return text.catch(() => '')
}

async function openLog(path: string) {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_BYTES_MAX) await rename(path, `${path}.1`)
  return open(path, 'a', 0o600)
}
