import type { Config } from './config.ts'
import { openEmbeddedPostgres } from './platform/db/embedded-postgres.ts'
import type { DatabaseAddress } from './platform/db/sql.ts'

/** A running PostgreSQL: the embedded one in the data directory, or the one of `DATABASE_URL`. */
export type Database = {
  kind: 'embedded' | 'external'
  /** For psql and other libpq programs. May contain a password. */
  url: string
  /** For postgres.js. */
  address: DatabaseAddress
  /** Fails if another `start` is running on the same data directory. */
  claim(): Promise<void>
  close(): Promise<void>
}

export async function openDatabase(config: Config, say: (line: string) => void): Promise<Database> {
  if (config.databaseUrl !== null) {
    return { kind: 'external', url: config.databaseUrl, address: config.databaseUrl, claim: nothing, close: nothing }
  }
  const postgres = await openEmbeddedPostgres({ dataDir: config.dataDir, say })
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
