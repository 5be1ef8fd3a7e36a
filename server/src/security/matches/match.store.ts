import type { MatchEnd, StoredMatch } from '../../inventory/matches/compare-matches.ts'
import type { MatchScope } from '../../inventory/matches/match-scope.store.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { ParsedFinding } from '../formats/report/parsed-report.ts'
import type { Recorded } from '../reconcile/record-report.store.ts'

/** The stream of the findings of a scope. */
export type MatchStream = { id: number; tracked: boolean; preview: boolean; has_ended: boolean; reported_at: Date }

/** Null before the first match run of a scope. */
export async function findMatchStream(db: Db, scope: MatchScope): Promise<MatchStream | null> {
  const { org_id, repository_no, category, git_ref, subject, lane } = scope
  const [row] = await db<MatchStream[]>`
    select id, tracked, preview, ended_at is not null as has_ended,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at
    from finding_streams
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and coalesce(category, '') = coalesce(${category}::text, '')
      and branch_name(git_ref) = branch_name(${git_ref})
      and coalesce(subject, '') = coalesce(${subject}::text, '')
      and origin = 'inventory'
      and lane = ${lane}`
  return row ?? null
}

type MatchStreamState = {
  preview: boolean
  /** Null while it goes on. */
  ended: { at: Date; reason: string } | null
  commit_sha: string | null
  reported_at: Date
}

/** Notes the newest document of a stream, and whether its findings count. */
export async function updateMatchStream(tx: Tx, orgId: string, id: number, state: MatchStreamState): Promise<void> {
  const { preview, ended, commit_sha, reported_at } = state
  await tx`
    update finding_streams
    set preview = ${preview}, commit_sha = ${commit_sha}, reported_at = greatest(reported_at, ${reported_at}),
      seen_at = greatest(seen_at, ${reported_at}), ended_at = ${ended?.at ?? null},
      ended_reason = ${ended?.reason ?? null}, ended_by_name = ${ended === null ? null : 'Shiplock'}
    where org_id = ${orgId}
      and id = ${id}`
}

/** What of a match is shown, in the columns of findings. */
export type MatchContent = Pick<
  ParsedFinding,
  | 'type'
  | 'severity'
  | 'title'
  | 'description'
  | 'path'
  | 'package_name'
  | 'package_version'
  | 'fixed_version'
  | 'purl'
  | 'vuln_ids'
  | 'rule_id'
  | 'cvss_version'
  | 'cvss_score'
  | 'cvss_vector'
>

/** A stored finding of a match. `fingerprint` and `content_hash` are in hex. */
export type StoredFinding = StoredMatch & MatchContent & { fingerprint: string; content_hash: string }

/** The findings of a stream: all, or those of packages that advisories know by these names. */
export async function listStoredMatches(
  db: Db,
  orgId: string,
  streamId: number,
  names: string[] | null,
): Promise<StoredFinding[]> {
  return db<StoredFinding[]>`
    select finding.id as finding_id, stored.component_no, stored.package_key, stored.canonical_id, stored.ended_as,
      encode(finding.fingerprint, 'hex') as fingerprint,
      encode(finding.content_hash, 'hex') as content_hash, finding.first_seen_at, finding.type, finding.severity,
      finding.title, finding.description, finding.path, finding.package_name, finding.package_version,
      finding.fixed_version, finding.purl, finding.vuln_ids, finding.rule_id, finding.cvss_version, finding.cvss_score,
      finding.cvss_vector
    from inventory_matches stored
    join findings finding on finding.org_id = stored.org_id and finding.id = stored.finding_id
    where stored.org_id = ${orgId}
      and stored.stream_id = ${streamId}
      ${names === null ? db`` : db`and stored.package_key = any(${names})`}`
}

/** What a finding at a position of `incoming` is a match of. `match_hash` is in hex. */
export type MatchLink = {
  position: number
  component_no: number
  package_key: string
  canonical_id: string
  match_hash: string
  ended_as: MatchEnd | null
}

/** Notes what the findings of a stream are matches of. */
export async function upsertMatchLinks(
  { paired: { tx, scope } }: Recorded,
  streamId: number,
  links: readonly MatchLink[],
): Promise<void> {
  await tx`
    delete from inventory_matches
    where org_id = ${scope.org_id}
      and finding_id in (select finding_id from paired where finding_id is not null)`
  await tx`
    insert into inventory_matches (
      org_id, finding_id, stream_id, component_no, package_key, canonical_id, match_hash, ended_as
    )
    select ${scope.org_id}, finding.id, ${streamId}, link.component_no, link.package_key, link.canonical_id,
      decode(link.match_hash, 'hex'), link.ended_as
    from jsonb_to_recordset(${tx.json([...links])}) as link (
      position integer, component_no bigint, package_key text, canonical_id text, match_hash text, ended_as text
    )
    join incoming using (position)
    cross join lateral (
      select id
      from findings
      where org_id = ${buildAverageId(tx, scope.org_id)}
        and stream_id = ${streamId}
        and fingerprint = incoming.fingerprint
        and ordinal = 0
      offset 0
    ) finding`
}

/** The open findings of the inventory, and the repositories that have some. */
export async function countMatches(db: Db, orgId: string): Promise<{ findings: number; repositories: number }> {
  const [row] = await db<[{ findings: number; repositories: number }]>`
    select count(*) as findings, count(distinct finding.repository_no) as repositories
    from inventory_matches stored
    join findings finding on finding.org_id = stored.org_id and finding.id = stored.finding_id
    where stored.org_id = ${orgId}
      and stored.ended_as is null
      and finding.state = 'open'`
  return row
}
