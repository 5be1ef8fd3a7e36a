import { copyFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSql, type Sql } from '../sql.ts'
import { selectAccount } from './account.ts'
import { findBinaries, readBinariesMajor, readClusterMajor } from './binaries.ts'
import { applyReplacement, CLUSTER, completeReplacement, getReplacedName, NEW_CLUSTER } from './cluster.ts'
import { copyDatabase, type FollowCopy } from './copy-database.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded-postgres.ts'
import { stopPostmaster } from './postmaster.ts'

type UpgradeOptions = {
  dataDir: string
  /** The binaries of the version that made the present cluster. */
  binaries: string
  say: (line: string) => void
  /** Creates or migrates the tables of a database. */
  migrate: (database: EmbeddedPostgres) => Promise<void>
  follow: FollowCopy
}

/** The directory of the replaced cluster is null if there was nothing to do. */
export type ClusterUpgrade = { from: number; to: number; rows: number; kept: string | null }

/**
 * Copies the embedded cluster into a new one of the program's version of PostgreSQL, and puts it
 * into its place. The old one stays as it is. After an interruption, it starts again; the new
 * cluster is used only when it is complete.
 */
export async function upgradeCluster(options: UpgradeOptions): Promise<ClusterUpgrade> {
  const { dataDir, follow } = options
  await completeReplacement(dataDir)
  const [from, to] = await readVersions(options)
  if (from === to) return { from, to, rows: 0, kept: null }
  const kept = join(dataDir, getReplacedName(from))
  if (await stat(kept).catch(() => undefined)) throw new Error(`${kept} exists already; move it away`)
  await removeUnfinished(dataDir)
  const rows = await copyCluster(options, follow)
  await carrySettings(dataDir)
  await applyReplacement(dataDir, from)
  return { from, to, rows, kept }
}

async function readVersions({ dataDir, binaries }: UpgradeOptions): Promise<[from: number, to: number]> {
  const cluster = join(dataDir, CLUSTER)
  const from = await readClusterMajor(cluster)
  if (from === null) throw new Error(`${cluster} is no database of PostgreSQL; check SHIPLOCK_DATA_DIR`)
  const account = await selectAccount(cluster)
  const to = await readBinariesMajor(await findBinaries(account, dataDir))
  if (from === to) return [from, to]
  const given = await readBinariesMajor(await findBinaries(account, dataDir, binaries))
  if (given === from) return [from, to]
  throw new Error(`${binaries} has PostgreSQL ${given}, and the database was made with PostgreSQL ${from}`)
}

async function removeUnfinished(dataDir: string): Promise<void> {
  const cluster = join(dataDir, NEW_CLUSTER)
  if (!(await stat(cluster).catch(() => undefined))) return
  await stopPostmaster(cluster)
  await rm(cluster, { recursive: true })
}

/** Both servers have stopped when it returns. */
async function copyCluster({ dataDir, binaries, say, migrate }: UpgradeOptions, follow: FollowCopy): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const before = await openEmbeddedPostgres({ dataDir, binaries, say })
  opened.defer(() => before.close())
  if (!(await before.isAlone())) throw new Error(`Another process uses the database in ${dataDir}; stop Shiplock first`)
  await migrate(before)
  await mentionRoles(before, say)
  const after = await openEmbeddedPostgres({ dataDir, clusterName: NEW_CLUSTER, say })
  opened.defer(() => after.close())
  await migrate(after)
  return await copyDatabase(before.connection, after.connection, follow)
}

async function mentionRoles({ connection }: EmbeddedPostgres, say: (line: string) => void): Promise<void> {
  const sql = openSql(connection, { max: 1, applicationName: 'shiplock upgrade' })
  const roles = await listOwnRoles(sql).finally(() => sql.end())
  if (roles.length > 0) say(`These roles are not copied; create them again afterwards: ${roles.join(', ')}`)
}

const OWN_SETTINGS = '# your own settings go here\n'

/** Keeps the administrator's settings: those below our include, and those of `alter system`. */
async function carrySettings(dataDir: string): Promise<void> {
  const [before, after] = [join(dataDir, CLUSTER), join(dataDir, NEW_CLUSTER)]
  const [, own = ''] = (await readFile(join(before, 'postgresql.conf'), 'utf8')).split(OWN_SETTINGS)
  if (own.trim() !== '') await writeFile(join(after, 'postgresql.conf'), own, { flag: 'a' })
  await copyFile(join(before, 'postgresql.auto.conf'), join(after, 'postgresql.auto.conf'))
}

/** Roles that an administrator has added. They belong to the server, not to the database. */
async function listOwnRoles(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select rolname as name
    from pg_roles
    where rolname !~ '^pg_'
      and rolname <> current_user
    limit 1000`
  return rows.map(({ name }) => name)
}
