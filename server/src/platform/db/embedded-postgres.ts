import { join as joinPath, resolve } from 'node:path'
import { makeDataDirectory } from '../files.ts'
import { findBinaries } from './embedded/binaries.ts'
import { accountFor, run, WORKING_DIRECTORY } from './embedded/child-process.ts'
import { CLUSTER, ensureCluster, ROLE } from './embedded/cluster.ts'
import { connectOrStart } from './embedded/connect-or-start.ts'
import { refuseOtherMajor } from './embedded/major-version.ts'
import { type SocketConnection, urlOf } from './embedded/membership.ts'
import { logFile, stopPostmaster } from './embedded/postmaster.ts'
import { finishReplacement } from './embedded/replaced-cluster.ts'
import type { PostgresSettings } from './embedded/settings.ts'
import { PORT, socketDirectory } from './embedded/socket-directory.ts'
import { stayMember } from './embedded/stay-member.ts'
import { prepareArchive } from './embedded/wal-archive.ts'

/**
 * An embedded PostgreSQL server, shared by all processes that use the data directory. The last one
 * stops it.
 */
export type EmbeddedPostgres = {
  /** For psql and other libpq programs. */
  url: string
  /** For postgres.js and pg. */
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
  if (clusterName === CLUSTER) await finishReplacement(dataDir)
  const account = await accountFor(cluster)
  const binaries = await findBinaries(account, dataDir, options.binaries)
  const clusterOptions = { cluster, binaries, account, settings, say }
  await ensureCluster(clusterOptions)
  await refuseOtherMajor(cluster, binaries)
  if (options.archive) await prepareArchive(options.archive, cluster, account)
  const connection = { host: await socketDirectory(cluster), port: PORT, database: ROLE, user: ROLE }
  const server = { ...clusterOptions, connection }
  const member = await stayMember((signal) => connectOrStart(server, signal), say)
  return {
    url: urlOf(connection),
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
export async function syncToDisk(dataDir: string): Promise<void> {
  const cluster = joinPath(resolve(dataDir), CLUSTER)
  const account = await accountFor(cluster)
  const binaries = await findBinaries(account, resolve(dataDir))
  await run(joinPath(binaries, 'bin/initdb'), ['--sync-only', '-D', WORKING_DIRECTORY], { account, cwd: cluster })
}
