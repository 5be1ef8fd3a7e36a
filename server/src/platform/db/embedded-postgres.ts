import { join as joinPath, resolve } from 'node:path'
import { makeDataDirectory } from '../files.ts'
import { findBinaries } from './embedded/binaries.ts'
import { run, selectAccount, WORKING_DIRECTORY } from './embedded/child-process.ts'
import { CLUSTER, createMissingCluster, ROLE } from './embedded/cluster.ts'
import { connectOrStart } from './embedded/connect-or-start.ts'
import { checkMajorVersion } from './embedded/major-version.ts'
import { type SocketConnection, toConnectionUrl } from './embedded/membership.ts'
import { logFile, stopPostmaster } from './embedded/postmaster.ts'
import { completeReplacement } from './embedded/replaced-cluster.ts'
import type { PostgresSettings } from './embedded/settings.ts'
import { PORT, selectSocketDirectory } from './embedded/socket-directory.ts'
import { openLastingMembership } from './embedded/stay-member.ts'
import { createArchive } from './embedded/wal-archive.ts'

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
  const clusterOptions = { cluster, binaries, account, settings, say }
  await createMissingCluster(clusterOptions)
  await checkMajorVersion(cluster, binaries)
  if (options.archive) await createArchive(options.archive, cluster, account)
  const connection = { host: await selectSocketDirectory(cluster), port: PORT, database: ROLE, user: ROLE }
  const server = { ...clusterOptions, connection }
  const member = await openLastingMembership((signal) => connectOrStart(server, signal), say)
  return {
    url: toConnectionUrl(connection),
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
