import type { Sql } from './sql.ts'

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
