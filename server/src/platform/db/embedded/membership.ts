import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '../../processes.ts'
import { openClient, type Client as Sql } from '../client/client.ts'
import { toTarget } from '../client/target.ts'
import { PORT } from './socket-directory.ts'

/** Advisory locks of the embedded server, in a number space of our own ("ship"). */
const LOCK_SPACE = 0x73686970
const USERS_LOCK = 1
const CLAIM_LOCK = 2

const CONNECT_MS_MAX = 30_000
const CLAIM_RELEASE_TIMEOUT_MS = 2000
const CLAIM_POLL_MS = 50

/** What a client library needs to connect through the Unix socket. */
export type SocketConnection = { host: string; port: number; database: string; user: string; password: string }

/**
 * One process's use of the server: a session-level shared lock on a separate connection. The server
 * releases it when the process ends, in any way.
 */
export type Membership = {
  /** Resolves when the connection has ended, for any reason. */
  lost: Promise<void>
  /**
   * Claims the data directory. Returns undefined, or the process id of its holder (0 if unknown).
   */
  claim(): Promise<number | undefined>
  /**
   * Ends the membership. Returns true if no other process is left; new ones wait until the
   * connection ends.
   */
  leave(): Promise<boolean>
  /**
   * Whether no other process is a member. If so, new ones wait until the connection ends.
   */
  isAlone(): Promise<boolean>
  end(): Promise<void>
}

/**
 * Connects and takes the shared lock. Fails as the connection does, for example while the server
 * starts.
 */
export async function openMembership(connection: SocketConnection): Promise<Membership> {
  const { promise: lost, resolve: onclose } = Promise.withResolvers<void>()
  const parameters = { application_name: `shiplock ${process.pid}` }
  const target = toTarget(connection, { parameters, connectMs: CONNECT_MS_MAX })
  // The locks of a connection that is replaced are gone.
  const sql = openClient({ max: 1, isLasting: true, closed: onclose, target: () => target })
  try {
    await share(sql)
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  let isLast = false
  const leaveOnce = async () => {
    isLast ||= await leave(sql)
    return isLast
  }
  const isAlone = async () => {
    if (!(await leaveOnce())) await share(sql)
    return isLast
  }
  return { lost, claim: () => claim(sql), leave: leaveOnce, isAlone, end: () => sql.end({ timeout: 1 }) }
}

/** The claim of a killed process is released after a short delay, so this tries several times. */
async function claim(sql: Sql): Promise<number | undefined> {
  for (let waitedMs = 0; ; waitedMs += CLAIM_POLL_MS) {
    const [taken] = await sql<[{ ok: boolean }]>`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, ${CLAIM_LOCK}::int) as ok`
    if (taken.ok) return undefined
    const holder = await claimHolder(sql)
    if (waitedMs >= CLAIM_RELEASE_TIMEOUT_MS || isAlive(holder)) return holder
    await delay(CLAIM_POLL_MS)
  }
}

async function claimHolder(sql: Sql): Promise<number> {
  const [holder] = await sql<[{ application_name: string }?]>`
    select activity.application_name
    from pg_locks
    join pg_stat_activity activity using (pid)
    where locktype = 'advisory'
      and classid = ${LOCK_SPACE}
      and objid = ${CLAIM_LOCK}
      and granted`
  return Number(holder?.application_name.split(' ')[1] ?? 0)
}

async function share(sql: Sql): Promise<void> {
  await sql`select pg_advisory_lock_shared(${LOCK_SPACE}::int, ${USERS_LOCK}::int)`
}

async function leave(sql: Sql): Promise<boolean> {
  await sql`select pg_advisory_unlock_shared(${LOCK_SPACE}::int, ${USERS_LOCK}::int)`
  const [last] = await sql<[{ ok: boolean }]>`
    select pg_try_advisory_lock(${LOCK_SPACE}::int, ${USERS_LOCK}::int) as ok`
  return last.ok
}

/** The address for psql and other libpq programs, which read the password themselves. */
export function toConnectionUrl({ host, database, user }: SocketConnection, passwordFile: string): string {
  const passfile = encodeURIComponent(passwordFile)
  return `postgres://${user}@${encodeURIComponent(host)}:${PORT}/${database}?passfile=${passfile}`
}

/** A membership that is renewed when its connection is lost, until it is closed. */
type LastingMembership = {
  /**
   * Returns undefined if the claim succeeded, otherwise the process id of its holder (0 if
   * unknown).
   */
  claim(): Promise<number | undefined>
  /** Whether no other process uses the server. If so, others wait until this membership ends. */
  isAlone(): Promise<boolean>
  /**
   * Ends the membership. Calls the given function to stop the server if no other process uses it.
   */
  close(stopServer: () => Promise<void>): Promise<void>
}

const RETRY_MS = 1000

/** Joins, and joins again whenever the connection is lost. Starts the server if needed. */
export async function openLastingMembership(
  connect: (signal: AbortSignal) => Promise<Membership>,
  say: (line: string) => void,
): Promise<LastingMembership> {
  const closing = new AbortController()
  let current: Membership | undefined = await connect(closing.signal)
  let claimed = false

  const rejoin = async (): Promise<Membership | undefined> => {
    while (!closing.signal.aborted) {
      try {
        const membership = await connect(closing.signal)
        if (claimed) await membership.claim()
        return membership
      } catch (error) {
        if (closing.signal.aborted) break
        say(`PostgreSQL cannot be reached: ${(error as Error).message}`)
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
    return undefined
  }
  const watch = async (): Promise<void> => {
    while (current) {
      await Promise.race([current.lost, aborted(closing.signal)])
      if (closing.signal.aborted) return
      say('the connection to PostgreSQL was lost, joining again')
      current = await rejoin()
    }
  }
  const watching = watch()

  return {
    async claim() {
      const holder = await current?.claim()
      claimed = holder === undefined
      return holder
    },
    isAlone: async () => (await current?.isAlone()) ?? false,
    async close(stopServer) {
      if (closing.signal.aborted) return
      closing.abort()
      await watching
      if (await current?.leave().catch(() => false)) await stopServer()
      await current?.end()
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
