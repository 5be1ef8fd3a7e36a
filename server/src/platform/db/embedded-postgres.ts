import { mkdir } from 'node:fs/promises'
import { join as joinPath, resolve } from 'node:path'
import { findBinaries } from './embedded/binaries.ts'
import { accountFor } from './embedded/child-process.ts'
import { ensureCluster, ROLE } from './embedded/cluster.ts'
import { connectOrStart } from './embedded/connect-or-start.ts'
import { type SocketConnection, urlOf } from './embedded/membership.ts'
import { logFile, stopPostmaster } from './embedded/postmaster.ts'
import type { PostgresSettings } from './embedded/settings.ts'
import { PORT, socketDirectory } from './embedded/socket-directory.ts'
import { stayMember } from './embedded/stay-member.ts'

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
  /** Ends this process's use. Stops the server if no other process uses it. */
  close(): Promise<void>
}

type EmbeddedPostgresOptions = {
  dataDir: string
  /** Receives one sentence about what is being waited for. */
  say?: (line: string) => void
  /** Overrides of our settings, for temporary servers. */
  settings?: PostgresSettings
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
  const { say = () => {}, settings = {} } = options
  const dataDir = resolve(options.dataDir)
  const cluster = joinPath(dataDir, 'postgres')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const account = await accountFor(cluster)
  const binaries = await findBinaries(account, dataDir)
  const clusterOptions = { cluster, binaries, account, settings, say }
  await ensureCluster(clusterOptions)
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
    close: () => member.close(() => stopPostmaster(cluster)),
  }
}
