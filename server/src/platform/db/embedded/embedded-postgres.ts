import { join as joinPath, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeDataDirectory } from '../../files.ts'
import { selectAccount, updateClusterOwner } from './account.ts'
import { checkMajorVersion, findBinaries } from './binaries.ts'
import { run, WORKING_DIRECTORY } from './child-process.ts'
import {
  CLUSTER,
  type ClusterOptions,
  completeReplacement,
  createMissingCluster,
  DATABASE,
  writeSettings,
} from './cluster.ts'
import {
  type Membership,
  openLastingMembership,
  openMembership,
  type SocketConnection,
  toConnectionUrl,
} from './membership.ts'
import { loadPassword, ROLE, requirePassword } from './password.ts'
import { findPostmaster, logFile, logTail, type StartedServer, startPostmaster, stopPostmaster } from './postmaster.ts'
import type { PostgresSettings } from './settings.ts'
import { PORT, selectSocketDirectory } from './socket-directory.ts'
import { createArchive } from './wal-archive.ts'

/**
 * An embedded PostgreSQL server, shared by all processes that use the data directory. The last one
 * stops it.
 */
export type EmbeddedPostgres = {
  /** For psql and other libpq programs. */
  url: string
  /** For clients. */
  connection: SocketConnection
  logFile: string
  /**
   * Makes this the only process that runs a server on the data directory. Throws
   * DataDirectoryInUseError.
   */
  claimDataDirectory(): Promise<void>
  /**
   * Whether no other process uses the server. If so, others wait from now on until it has stopped.
   */
  isAlone(): Promise<boolean>
  /** Ends this process's use. Stops the server if no other process uses it. */
  close(): Promise<void>
}

type EmbeddedPostgresOptions = {
  dataDir: string
  /** Receives one sentence about what is being waited for. */
  say?: (line: string) => void
  /** Overrides of our settings, for temporary servers. */
  settings?: PostgresSettings
  /** The name of the cluster's directory, if it is not the one that the program uses. */
  clusterName?: string
  /** Binaries of another version. */
  binaries?: string
  /** The directory in which the WAL is archived. */
  archive?: string | null
}

/** Another process runs a server on the data directory. */
export class DataDirectoryInUseError extends Error {
  constructor(dataDir: string, pid: number) {
    super(`Shiplock is already running on ${dataDir} (pid ${pid || 'unknown'})`)
  }
}

/**
 * Connects to the server of the data directory. Creates and starts it if needed, also after a
 * crash.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { say = () => {}, settings = {}, clusterName = CLUSTER } = options
  const dataDir = resolve(options.dataDir)
  const cluster = joinPath(dataDir, clusterName)
  await makeDataDirectory(dataDir, 0o700)
  if (clusterName === CLUSTER) await completeReplacement(dataDir)
  const account = await selectAccount(cluster)
  const binaries = await findBinaries(account, dataDir, options.binaries)
  const { password, file } = await loadPassword(dataDir)
  const clusterOptions = { cluster, binaries, account, settings, password, say }
  await createMissingCluster(clusterOptions)
  await checkMajorVersion(cluster, binaries)
  const host = await selectSocketDirectory(cluster)
  const connection = { host, port: PORT, database: DATABASE, user: ROLE, password }
  const server = { ...clusterOptions, connection, archive: options.archive ?? null }
  const member = await openLastingMembership((signal) => connectOrStart(server, signal), say)
  return {
    url: toConnectionUrl(connection, file),
    connection,
    logFile: logFile(cluster),
    claimDataDirectory: async () => {
      const holder = await member.claim()
      if (holder !== undefined) throw new DataDirectoryInUseError(dataDir, holder)
    },
    isAlone: () => member.isAlone(),
    close: () => member.close(() => stopPostmaster(cluster)),
  }
}

/** Stops the server of a data directory that no process uses, if one was left running. */
export async function stopLeftServer(dataDir: string): Promise<void> {
  await stopPostmaster(joinPath(resolve(dataDir), CLUSTER))
}

/** Writes the files of a stopped server that ran without `fsync` to disk. */
export async function writeToDisk(dataDir: string): Promise<void> {
  const cluster = joinPath(resolve(dataDir), CLUSTER)
  const account = await selectAccount(cluster)
  const binaries = await findBinaries(account, resolve(dataDir))
  await run(joinPath(binaries, 'bin/initdb'), ['--sync-only', '-D', WORKING_DIRECTORY], { account, cwd: cluster })
}

export type Server = ClusterOptions & { connection: SocketConnection; archive: string | null }

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

const INVALID_PASSWORD = '28P01'
const OTHER_PASSWORD =
  'the running PostgreSQL has another password than postgres-password in the data directory; stop it, so that the next start sets this one'

/**
 * Connects to the running server. Waits while it starts or stops, and starts one if none is
 * running.
 */
async function connectOrStart(server: Server, signal: AbortSignal): Promise<Membership> {
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
    if (code === INVALID_PASSWORD) throw new Error(OTHER_PASSWORD, { cause: error })
    throw error
  }
}

/** Starts a server unless one is running or starting. On failure, reports the end of its log. */
function starter(server: Server): () => Promise<void> {
  const { cluster, binaries, account } = server
  let started: StartedServer | undefined
  let attempts = 0
  return async () => {
    if (started && !started.hasExited()) return
    if (await findPostmaster(cluster)) return
    if (attempts === START_ATTEMPTS_MAX) throw new Error(`PostgreSQL does not start: ${await logTail(cluster)}`)
    if (attempts > 0) await delay(START_BACKOFF_MS * 2 ** (attempts - 1))
    attempts += 1
    if (await prepareStart(server)) started = await startPostmaster(cluster, binaries, account)
  }
}

/** Returns false if another process may be about to start the server. */
async function prepareStart(server: Server): Promise<boolean> {
  const { cluster, account, settings, archive } = server
  await updateClusterOwner(cluster, account, archive)
  if (archive !== null) await createArchive(archive, cluster, account)
  await writeSettings(cluster, account, settings)
  return requirePassword(server)
}
