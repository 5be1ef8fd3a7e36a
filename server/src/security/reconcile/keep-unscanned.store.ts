import { buildAverageId } from '../../platform/db/average-id.ts'
import type { Stream } from './finding-stream.store.ts'
import type { ExactPairs } from './pair-exactly.store.ts'
import { countPairs } from './paired.store.ts'

/** A stream with the paths of the files that its tool could not scan. */
export type ReportedStream = Stream & { unscanned: readonly string[] }

/**
 * Leaves stored findings as they are if the tool could not scan their files: they are neither
 * missing nor fixed, and they did not move to another file. A rule with a finding in such a file
 * was run on it, like the rule that reports the invalid syntax itself.
 */
export async function deleteUnscannedPairs(exact: ExactPairs, streams: readonly ReportedStream[]): Promise<ExactPairs> {
  const unscanned = streams.flatMap(({ id, unscanned: paths }) => paths.map((path) => ({ id, path })))
  if (unscanned.length === 0) return exact
  const { tx, scope } = exact
  await tx`
    delete from paired
    using unnest(${unscanned.map(({ id }) => id)}::bigint[], ${unscanned.map(({ path }) => path)}::text[])
      as unscanned (stream_id, path), findings finding
    where paired.position is null
      and paired.stream_id = unscanned.stream_id
      and finding.org_id = ${buildAverageId(tx, scope.org_id)}
      and finding.id = paired.finding_id
      and finding.path = unscanned.path
      and not exists (
        select
        from paired reported
        join incoming using (position)
        where reported.stream_id = unscanned.stream_id
          and incoming.path = finding.path
          and incoming.rule_id = finding.rule_id
      )`
  return { ...exact, counts: await countPairs(tx) }
}
