import type { Config } from '../config.ts'
import { checkNoUnfinishedRestore } from '../platform/backup-marks.ts'
import { openEmbeddedPostgres } from '../platform/db/embedded/embedded-postgres.ts'
import type { PostgresSettings } from '../platform/db/embedded/settings.ts'
import { getArchiveSettings, getRecoverySettings } from '../platform/db/embedded/wal-archive.ts'
import { findPrimary } from '../platform/db/primary-server.ts'
import type { DatabaseAddress } from '../platform/db/sql.ts'

/** A running PostgreSQL: the embedded one in the data directory, or the one of `DATABASE_URL`. */
export type Database = {
  kind: 'embedded' | 'external'
  /** For psql and other libpq programs. May contain a password. */
  url: string
  /** For our clients. */
  address: DatabaseAddress
  /** Fails if another `start` is running on the same data directory. */
  claim(): Promise<void>
  close(): Promise<void>
}

/** A restore that crashes starts from the beginning, so nothing has to survive. */
const FAST_UNTIL_SYNCED = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  // With it, COPY into a table that its transaction has emptied writes no log.
  wal_level: 'minimal',
  max_wal_senders: 0,
}

export async function openDatabase(config: Config, say: (line: string) => void): Promise<Database> {
  await checkNoUnfinishedRestore(config.dataDir)
  return open(config, say, config.walArchive === null ? {} : getArchiveSettings(config.walArchive))
}

type Recovery = { wal: string; until: Date | null; say: (line: string) => void }

/** Opens the embedded database when it has read the archive up to a time, or to its end. */
export async function openForRecovery(config: Config, { wal, until, say }: Recovery): Promise<Database> {
  return open({ ...config, walArchive: null }, say, getRecoverySettings(wal, until))
}

/**
 * Opens an empty database to restore into. The embedded one works without regard to crashes until
 * `writeToDisk`; its data directory is marked meanwhile.
 */
export async function openForRestore(config: Config, say: (line: string) => void): Promise<Database> {
  return open({ ...config, walArchive: null }, say, FAST_UNTIL_SYNCED)
}

async function open(config: Config, say: (line: string) => void, settings: PostgresSettings): Promise<Database> {
  if (config.databaseUrl !== null) {
    await findPrimary(config.databaseUrl)
    return { kind: 'external', url: config.databaseUrl, address: config.databaseUrl, claim: nothing, close: nothing }
  }
  const postgres = await openEmbeddedPostgres({ dataDir: config.dataDir, say, settings, archive: config.walArchive })
  const { url, connection } = postgres
  return {
    kind: 'embedded',
    url,
    address: connection,
    claim: () => postgres.claimDataDirectory(),
    close: () => postgres.close(),
  }
}

async function nothing(): Promise<void> {}
