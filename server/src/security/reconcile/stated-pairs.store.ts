import { buildAverageId } from '../../platform/db/spread.ts'
import type { MergeScope } from '../writing/grouping.store.ts'
import type { Incoming } from './incoming.store.ts'
import { buildNamedStreams, type NamedStream } from './pair-exactly.store.ts'
import { countPairs, type Paired, type Pairs, updatePairIndexes } from './paired.store.ts'
import type { Recorded } from './record-report.store.ts'

/**
 * Pairs what states itself with its findings. It names its finding, so that every pair is certain,
 * and it states whether it is fixed, so that no finding is missing. Another ref or tool of an alert
 * moves its finding to another stream.
 */
export async function insertStatedPairs(
  { tx, members }: Incoming,
  scope: MergeScope,
  streams: readonly NamedStream[],
): Promise<Paired> {
  await tx`
    create temporary table paired on commit drop as
    select position, stream.id as stream_id, finding.id as finding_id, finding.reported_state = 'open' as was_open,
      false as was_missing,
      finding.content_hash <> incoming.content_hash or finding.stream_id <> stream.id as is_changed,
      null::text as identity_method, case when finding.id is null then 0 end as ordinal
    from incoming
    join ${buildNamedStreams(tx, streams)} on stream.tool = incoming.tool
    left join findings finding on finding.org_id = ${buildAverageId(tx, scope.org_id)} and finding.id = incoming.finding_id`
  await updatePairIndexes(tx)
  const pairs: Pairs = { tx, scope, members, earlier: streams, counts: await countPairs(tx) }
  return pairs as Paired
}

/** Records which finding shows which revision of each alert. Returns the issues of the findings. */
export async function upsertAlertLinks({ paired: { tx, scope } }: Recorded): Promise<string[]> {
  const rows = await tx<{ issue_id: string }[]>`
    with shown as (
      select incoming.alert_id, incoming.revision, finding.id as finding_id, finding.issue_id
      from incoming
      join paired using (position)
      cross join lateral (
        select id, issue_id
        from findings
        where org_id = ${buildAverageId(tx, scope.org_id)}
          and stream_id = paired.stream_id
          and fingerprint = incoming.fingerprint
          and ordinal = 0
        offset 0
      ) finding
    ),
    linked as (
      insert into alert_findings as link (org_id, alert_id, finding_id, revision)
      select ${scope.org_id}, alert_id, finding_id, revision
      from shown
      on conflict (org_id, alert_id) do update
      set finding_id = excluded.finding_id, revision = excluded.revision
    )
    select distinct issue_id
    from shown`
  return rows.map(({ issue_id }) => issue_id)
}
