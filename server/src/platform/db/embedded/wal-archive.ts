import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, writeForAccount } from '../../files.ts'
import type { Sql } from '../sql.ts'
import { type Account, run } from './child-process.ts'
import type { PostgresSettings } from './settings.ts'

const SCRIPT_NAME = 'shiplock-archive.sh'
/** The most that a lost machine loses, in seconds: PostgreSQL starts a new file of WAL so often. */
const ARCHIVE_EVERY_SECONDS = 60

/**
 * Copies one file of WAL. It gets its name when it is complete and on disk, and a file with other
 * contents is never overwritten (PostgreSQL manual, 25.3.1). PostgreSQL repeats what has failed.
 */
const SCRIPT = `#!/bin/sh
# Written by Shiplock at every start. Arguments: the file, its name, the archive.
set -eu
target="$3/$2.gz"
if [ -e "$target" ]; then
  if gzip -dc "$target" | cmp -s - "$1"; then exit 0; fi
  echo "shiplock: $target exists with other contents" >&2
  exit 1
fi
partial="$3/.$2.$$.partial"
trap 'rm -f "$partial"' EXIT
gzip -1 -n -c "$1" > "$partial"
sync "$partial" 2>/dev/null || sync
mv "$partial" "$target"
sync "$3" 2>/dev/null || sync
`

/** Settings under which the server archives its WAL in a directory. */
export function getArchiveSettings(archive: string): PostgresSettings {
  return {
    archive_mode: 'on',
    archive_command: `sh ./${SCRIPT_NAME} "%p" "%f" "${archive}"`,
    archive_timeout: ARCHIVE_EVERY_SECONDS,
  }
}

/** Settings under which a copied cluster reads the archive, up to a time or to its end. */
export function getRecoverySettings(archive: string, until: Date | null): PostgresSettings {
  // Settings are read before names of time zones are known, `Z` included.
  const time = until?.toISOString().replace('T', ' ').replace('Z', '+00')
  return {
    restore_command: `gzip -dc "${archive}/%f.gz" > "%p"`,
    // Nobody connects before the end of the recovery, so a connection means that it has ended.
    hot_standby: 'off',
    archive_mode: 'off',
    ...(time !== undefined && { recovery_target_time: time, recovery_target_action: 'promote' }),
  }
}

/**
 * Makes the archive, and the program that writes to it. Throws if the account may not write there.
 */
export async function createArchive(archive: string, cluster: string, account: Account): Promise<void> {
  const isNew = await makeDirectory(archive, 0o700)
  if (isNew && account) await chown(archive, account.uid, account.gid)
  await run('/bin/sh', ['-c', 'test -w "$0"', archive], { account, cwd: '/' }).catch(() => {
    throw new Error(`PostgreSQL cannot write to ${archive} (SHIPLOCK_WAL_ARCHIVE)${describeRemedy(archive, account)}`)
  })
  await writeForAccount(join(cluster, SCRIPT_NAME), SCRIPT, account)
}

/** Fails on the first file that is there and cannot be read. */
const READ_ALL = 'cd "$0" && for file in *; do if [ -e "$file" ]; then [ -r "$file" ] || exit 1; fi; done'

/**
 * Throws unless the account can read the whole archive: PostgreSQL takes a file that it cannot read
 * for the end of the archive, and would restore an earlier state.
 */
export async function checkArchiveReadable(archive: string, account: Account): Promise<void> {
  await run('/bin/sh', ['-c', READ_ALL, archive], { account, cwd: '/' }).catch(() => {
    throw new Error(`PostgreSQL cannot read ${archive}${describeRemedy(archive, account)}`)
  })
}

function describeRemedy(archive: string, account: Account): string {
  if (!account) return ''
  return `: it runs as user ${account.uid}, to whom you can give the directory (chown -R ${account.uid} ${archive})`
}

type Archiver = {
  is_on: boolean
  /** The time of the last failure, if nothing was archived after it. */
  failing_since: Date | null
  failed_file: string | null
}

/** How the archiving of the WAL goes. */
export async function readArchiver(sql: Sql): Promise<Archiver> {
  const [row] = await sql<[Archiver]>`
    select
      current_setting('archive_mode') <> 'off' as is_on,
      case when last_failed_time > coalesce(last_archived_time, '-infinity') then last_failed_time end as failing_since,
      last_failed_wal as failed_file
    from pg_stat_archiver`
  return row
}
