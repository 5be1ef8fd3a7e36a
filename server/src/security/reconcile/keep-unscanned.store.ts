import type { Tx } from '../../platform/db/sql.ts'
import type { Stream } from './finding-stream.store.ts'

/** A stream with the paths of the files that its tool could not scan. */
export type ReportedStream = Stream & { unscanned?: readonly string[] }

/**
 * Leaves stored findings as they are if the tool could not scan their files: they are neither
 * missing nor fixed. Returns whether there are any.
 */
export async function keepUnscanned(tx: Tx, orgId: string, streams: readonly ReportedStream[]): Promise<boolean> {
  const unscanned = streams.flatMap(({ id, unscanned: paths = [] }) => paths.map((path) => ({ id, path })))
  if (unscanned.length === 0) return false
  const rows = await tx`
    delete from paired
    using unnest(${unscanned.map(({ id }) => id)}::bigint[], ${unscanned.map(({ path }) => path)}::text[])
      as unscanned (stream_id, path), findings finding
    where paired.position is null
      and paired.stream_id = unscanned.stream_id
      and finding.org_id = ${orgId}
      and finding.id = paired.finding_id
      and finding.path = unscanned.path`
  return rows.count > 0
}
