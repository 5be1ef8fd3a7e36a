import { buildAverageId, buildAverageIds } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { TriageSource } from '../writing/triage.store.ts'
import { buildStatedDismissal } from './stated-triage.store.ts'
import type { JudgedFacts } from './verdict.store.ts'

/** A finding about a vulnerability in a package, and the triage that decides its state. */
export type ExportedFinding = JudgedFacts & {
  purl: string
  repository_no: number
  action: 'dismiss' | 'reopen' | null
  source: TriageSource | null
  reason: string | null
  comment: string | null
  at: Date | null
  is_dismissed: boolean
}

/**
 * The findings of tracked branches that are open or dismissed and name a vulnerability and a
 * package.
 */
export function listExported(db: Db, orgId: string, repositoryNos: readonly number[]): Promise<ExportedFinding[]> {
  return db<ExportedFinding[]>`
    select finding.id, stream.repository_no, finding.purl, finding.package_name, finding.package_version,
      finding.vuln_ids, branch_name(stream.git_ref) as ref, stream.subject,
      stream.facts -> 'digests' as digests,
      coalesce(finding.last_commit_sha, stream.commit_sha) as commit_sha, triage.action, triage.source, triage.reason,
      triage.comment, triage.created_at as at, finding.state = 'dismissed' as is_dismissed,
      ${buildStatedDismissal(db)} as stated
    from finding_streams stream
    join findings finding on finding.org_id = stream.org_id and finding.stream_id = stream.id
    left join triages triage on triage.org_id = finding.org_id and triage.id = finding.triage_id
    where stream.org_id = ${buildAverageId(db, orgId)}
      and stream.repository_no = any(${buildAverageIds(db, repositoryNos)})
      and stream.tracked
      and finding.state <> 'fixed'
      and finding.purl is not null
      and finding.vuln_ids <> '{}'
    order by finding.id`
}

type ExportVersion = { version: number; created_at: Date; changed_at: Date }

/** The version of a document with these contents: a new one if they differ from the last time. */
export async function upsertVersion(
  db: Db,
  { org_id, repository_no }: { org_id: string; repository_no: number },
  contentHash: Buffer,
  at: Date,
): Promise<ExportVersion> {
  const [known] = await db<ExportVersion[]>`
    select version, created_at, changed_at
    from vex_exports
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and content_hash = ${contentHash}`
  if (known !== undefined) return known
  const [row] = await db<[ExportVersion]>`
    insert into vex_exports as stored (org_id, repository_no, content_hash, version, created_at, changed_at)
    values (${org_id}, ${repository_no}, ${contentHash}, 1, ${at}, ${at})
    on conflict (org_id, repository_no) do update
    set content_hash = excluded.content_hash,
      version = stored.version + (stored.content_hash <> excluded.content_hash)::integer,
      changed_at = case
        when stored.content_hash <> excluded.content_hash then greatest(stored.changed_at, excluded.changed_at)
        else stored.changed_at
      end
    returning version, created_at, changed_at`
  return row
}
