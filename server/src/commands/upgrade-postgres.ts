import { toMib } from '../backup/manifest.ts'
import type { EmbeddedPostgres } from '../platform/db/embedded/embedded-postgres.ts'
import { type ClusterUpgrade, upgradeCluster } from '../platform/db/embedded/upgrade-cluster.ts'
import { openSql } from '../platform/db/sql.ts'
import { applyUpdates } from '../start/apply-updates.ts'
import { ProgressBar } from '../start/terminal.ts'
import { defineCommand, type Output } from './command.ts'

export const upgradePostgres = defineCommand({
  name: 'upgrade-postgres',
  about:
    'Copies the embedded database into one of the PostgreSQL of this program, after an update with a new major version. Stop Shiplock first. The old database stays beside the new one.',
  arguments: [],
  options: {
    from: {
      type: 'text',
      value: 'DIR',
      about: 'the binaries of the PostgreSQL that made the database: its npm package, or a directory with bin/',
      required: true,
    },
  },
  async run({ readSettings, say, print }, _given, { from: binaries }) {
    const { databaseUrl, dataDir } = readSettings()
    if (databaseUrl !== null) throw new Error('DATABASE_URL is set: upgrade that server with its own tools')
    const bar = new ProgressBar(say)
    const follow = (bytes: number, total: number) => bar.reach(toMib(bytes), toMib(total), 'MiB')
    const migrate = (database: EmbeddedPostgres) => migrateDatabase(database, say)
    const upgrade = await upgradeCluster({ dataDir, binaries, say, migrate, follow })
    bar.end()
    print(toOutput(upgrade))
  },
})

async function migrateDatabase(database: EmbeddedPostgres, say: (line: string) => void): Promise<void> {
  const sql = openSql(database.connection, { max: 1, applicationName: 'shiplock migrate' })
  await applyUpdates(sql, say).finally(() => sql.end())
}

function toOutput(upgrade: ClusterUpgrade): Output {
  const { from, to, rows, kept } = upgrade
  const text =
    kept === null
      ? `The database already has PostgreSQL ${to}.`
      : `Copied ${rows} rows from PostgreSQL ${from} to ${to}. The old database is in ${kept}; remove it when you no longer need it.`
  return { json: upgrade, text }
}
