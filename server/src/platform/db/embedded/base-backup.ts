import { chmod, copyFile, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toNullIfMissing } from '../../files.ts'
import type { Sql } from '../sql.ts'
import { updateOwner } from './account.ts'
import type { Account } from './child-process.ts'

/** Directories of which the server makes the contents again (PostgreSQL manual, 25.3.4). */
const WITHOUT_CONTENTS = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]
const LEFT_OUT = /^(?:postmaster\.(?:pid|opts)|\.s\.PGSQL\..*|pgsql_tmp.*|pg_internal\.init.*|.*\.stale-\d+)$/
const CONTROL_FILE = 'global/pg_control'

/**
 * Copies the files of a running cluster. The copy is usable together with the WAL that is archived
 * until this returns. `sql` must be one connection without time limits.
 */
export async function copyCluster(sql: Sql, cluster: string, target: string): Promise<void> {
  await sql`select pg_backup_start('shiplock', true)`
  await copyDirectory(cluster, target, '')
  await copySynced(join(cluster, CONTROL_FILE), join(target, CONTROL_FILE))
  const [stopped] = await sql<[{ labelfile: string; spcmapfile: string }]>`
    select labelfile, spcmapfile
    from pg_backup_stop(true)`
  if (stopped.spcmapfile !== '') throw new Error('The cluster has tablespaces outside of its directory')
  await writeFile(join(target, 'backup_label'), stopped.labelfile)
}

async function copyDirectory(from: string, to: string, path: string): Promise<void> {
  await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  if (WITHOUT_CONTENTS.includes(path)) return
  for (const entry of (await toNullIfMissing(readdir(join(from, path), { withFileTypes: true }))) ?? []) {
    const child = path === '' ? entry.name : `${path}/${entry.name}`
    if (LEFT_OUT.test(entry.name) || child === CONTROL_FILE) continue
    if (entry.isDirectory()) await copyDirectory(from, to, child)
    // A file can be removed meanwhile: the WAL says so, too.
    else if (entry.isFile()) await toNullIfMissing(copySynced(join(from, child), join(to, child)))
  }
}

async function copySynced(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  await chmod(to, 0o600)
  await using file = await open(to, 'r+')
  await file.sync()
}

/**
 * Puts a copied cluster in place, so that its next start recovers from the archive. Without rules
 * for connections, this start sets the password of the data directory, which may be another one
 * than that of the backup.
 */
export async function restoreBaseBackup(copy: string, cluster: string, account: Account): Promise<void> {
  await copyDirectory(copy, cluster, '')
  await mkdir(join(cluster, 'pg_wal/archive_status'), { recursive: true, mode: 0o700 })
  await copySynced(join(copy, CONTROL_FILE), join(cluster, CONTROL_FILE))
  await writeFile(join(cluster, 'recovery.signal'), '', { mode: 0o600 })
  await rm(join(cluster, 'pg_hba.conf'), { force: true })
  if (account) await updateOwner(cluster, account)
}
