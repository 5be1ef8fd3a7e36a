import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterOptions, writeSettings } from './cluster.ts'
import { type Membership, openMembership, type SocketConnection } from './membership.ts'
import { findPostmaster, logTail, type StartedServer, startPostmaster } from './postmaster.ts'

export type Server = ClusterOptions & { connection: SocketConnection }

const POLL_MS = 10
/** Crash recovery replays at most max_wal_size, which takes minutes on very slow disks. */
const READY_TIMEOUT_MS = 15 * 60_000
const SAY_EVERY_MS = 5000
/** The backends of a killed server may outlive it and prevent a start: retries for 6 s in all. */
const START_ATTEMPTS_MAX = 8
const START_BACKOFF_MS = 50

/** No server is listening, or its socket does not exist yet. */
const NOBODY_LISTENS = ['ENOENT', 'ECONNREFUSED']
/** The server is starting, recovering or stopping, or closed the connection. */
const NOT_NOW = ['57P01', '57P02', '57P03', '53300', 'ECONNRESET', 'EPIPE', 'CONNECTION_CLOSED', 'CONNECTION_DESTROYED']

/**
 * Connects to the running server. Waits while it starts or stops, and starts one if none is
 * running.
 */
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
    return { membership: await openMembership(connection), code: '' }
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (NOBODY_LISTENS.includes(code) || NOT_NOW.includes(code)) return { code }
    throw error
  }
}

/** Starts a server unless one is running or starting. On failure, reports the end of its log. */
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
