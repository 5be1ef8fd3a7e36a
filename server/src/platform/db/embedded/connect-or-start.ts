import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterOptions, writeSettings } from './cluster.ts'
import { join, type Membership, type SocketConnection } from './membership.ts'
import { findPostmaster, logTail, type StartedServer, startPostmaster } from './postmaster.ts'

export type Server = ClusterOptions & { connection: SocketConnection }

const POLL_MS = 10
/** Crash recovery replays at most max_wal_size, which takes minutes on the slowest disks. */
const READY_TIMEOUT_MS = 15 * 60_000
const SAY_EVERY_MS = 5000
/** The backends of a killed server may outlive it for a moment, and no other starts meanwhile: 6 s in all. */
const START_ATTEMPTS_MAX = 8
const START_BACKOFF_MS = 50

/** Nobody listens: there is no server, or its socket does not exist yet. */
const NOBODY_LISTENS = ['ENOENT', 'ECONNREFUSED']
/** The server is starting, recovering or stopping, or went away between two messages. */
const NOT_NOW = ['57P01', '57P02', '57P03', '53300', 'ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', 'CONNECTION_DESTROYED']

/** Joins the running server, waits for one that is starting or stopping, and starts one when there is none. */
export async function connectOrStart(server: Server, signal: AbortSignal): Promise<Membership> {
  const startIfNone = starter(server)
  const since = Date.now()
  for (let spokenAt = since; Date.now() - since < READY_TIMEOUT_MS; ) {
    signal.throwIfAborted()
    const { membership, code } = await tryToJoin(server.connection)
    if (membership) return membership
    if (NOBODY_LISTENS.includes(code)) await startIfNone()
    if (Date.now() - spokenAt > SAY_EVERY_MS) {
      spokenAt = Date.now()
      server.say('waiting for PostgreSQL, which may be recovering from a crash')
    }
    await delay(POLL_MS)
  }
  throw new Error(
    `PostgreSQL is not ready after ${READY_TIMEOUT_MS / 60_000} minutes: ${await logTail(server.cluster)}`,
  )
}

async function tryToJoin(connection: SocketConnection): Promise<{ membership?: Membership; code: string }> {
  try {
    return { membership: await join(connection), code: '' }
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (NOBODY_LISTENS.includes(code) || NOT_NOW.includes(code)) return { code }
    throw error
  }
}

/** Starts a server unless one runs or has just been started; gives up with the server's own last words. */
function starter({ cluster, binaries, account, settings }: Server): () => Promise<void> {
  let started: StartedServer | undefined
  let attempts = 0
  return async () => {
    if (started && !started.hasExited()) return
    if (await findPostmaster(cluster)) return
    if (attempts === START_ATTEMPTS_MAX) throw new Error(`PostgreSQL does not start: ${await logTail(cluster)}`)
    if (attempts > 0) await delay(START_BACKOFF_MS * 2 ** (attempts - 1))
    attempts += 1
    await writeSettings(cluster, account, settings)
    started = await startPostmaster(cluster, binaries, account)
  }
}
