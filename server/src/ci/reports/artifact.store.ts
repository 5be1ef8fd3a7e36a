import type { Db, Tx } from '../../platform/db/sql.ts'
import { getLowestUuid } from '../../platform/ids.ts'
import type { TrustClass } from '../runs/trust.ts'

/** Identifies a report of a run. */
export type ReportKey = { org_id: string; run_id: string; report_id: string }

export type ArtifactRow = {
  id: string
  path: string
  size: number
  sha256: string
  put_until: Date
}

export type StoredArtifact = ArtifactRow & { status: 'pending' | 'uploaded' | 'rejected'; reason: string | null }

/**
 * The artifacts of a report at these paths: of each, the uploaded one and the one that is about to
 * replace it. The report is locked, so they do not change.
 */
export async function findArtifactsByPath(tx: Tx, report: ReportKey, paths: string[]): Promise<StoredArtifact[]> {
  return tx<StoredArtifact[]>`
    select id, path, size, sha256, put_until, status, reason
    from ci_artifacts
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}
      and path = any(${paths})`
}

/** The artifacts of a report that have one of these ids. */
export async function findArtifactsById(db: Db, report: ReportKey, ids: string[]): Promise<StoredArtifact[]> {
  return db<StoredArtifact[]>`
    select id, path, size, sha256, put_until, status, reason
    from ci_artifacts
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}
      and id = any(${ids})`
}

/**
 * Bytes that count toward the quota of a run: files that are uploaded, and slots that are still
 * open. An open slot of a path that has a file counts by its growth only (ci-evidence §2). Each
 * lane has the quota for itself (trust §1).
 */
export async function countRunBytes(tx: Tx, report: ReportKey, trust: TrustClass, now: Date): Promise<number> {
  const [row] = await tx<[{ bytes: number }]>`
    select coalesce(sum(size), 0)::bigint as bytes
    from (
      select max(size) as size
      from ci_artifacts
      where org_id = ${report.org_id}
        and run_id = ${report.run_id}
        and trust = ${trust}
        and (status = 'uploaded' or (status = 'pending' and put_until > ${now}))
      group by report_id, path
    ) file`
  return row.bytes
}

export async function countArtifacts(db: Db, report: ReportKey): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(distinct path) as count
    from ci_artifacts
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}`
  return row.count
}

/** Who declares artifacts: the class, and the repository of a token with its address. */
export type Declarer = { trust: TrustClass; repository: { provider: string; id: string; address: string } | null }

/** Inserts pending artifacts. One that is stored already gets the new `put_until` and declarer. */
export async function upsertSlots(
  tx: Tx,
  report: ReportKey & { declarer: Declarer },
  slots: ArtifactRow[],
  at: Date,
): Promise<void> {
  const { trust, repository } = report.declarer
  await tx`
    insert into ci_artifacts (
      org_id, id, report_id, run_id, path, size, sha256, status, put_until, trust, claimed_provider,
      claimed_repository_id, claimed_repository, created_at
    )
    select ${report.org_id}, id, ${report.report_id}, ${report.run_id}, path, size, sha256, 'pending', put_until,
      ${trust}, ${repository?.provider ?? null}, ${repository?.id ?? null}, ${repository?.address ?? null},
      ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(slots as never)}::jsonb)
      as slot (id text, path text, size bigint, sha256 text, put_until timestamptz)
    on conflict (org_id, id) do update
    set put_until = excluded.put_until, trust = excluded.trust, claimed_provider = excluded.claimed_provider,
      claimed_repository_id = excluded.claimed_repository_id, claimed_repository = excluded.claimed_repository`
}

/**
 * Stores who declared uploaded artifacts last. What another lane declares is complete from then on.
 */
export async function updateDeclarer(
  tx: Tx,
  report: ReportKey & { declarer: Declarer },
  paths: string[],
  at: Date,
): Promise<void> {
  const { trust, repository } = report.declarer
  await tx`
    update ci_artifacts
    set trust = ${trust}, completed_at = case when trust = ${trust} then completed_at else ${at} end, claimed_provider = ${repository?.provider ?? null},
      claimed_repository_id = ${repository?.id ?? null}, claimed_repository = ${repository?.address ?? null}
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}
      and status = 'uploaded'
      and path = any(${paths})`
}

/** Sets the final status of a pending artifact. Returns false when it is not pending any more. */
export async function updateArtifactStatus(
  tx: Tx,
  orgId: string,
  id: string,
  result: { status: 'uploaded' | 'rejected'; reason: string | null; completed_at: Date },
): Promise<boolean> {
  const settled = await tx`
    update ci_artifacts
    set status = ${result.status}, reason = ${result.reason}, completed_at = ${result.completed_at}
    where org_id = ${orgId}
      and id = ${id}
      and status = 'pending'`
  return settled.count > 0
}

/** SQL: whether another file is about to replace `artifact`. */
export function hasReplacement(db: Db, orgId: string) {
  return db`exists (
    select
    from ci_artifacts replacement
    where replacement.org_id = ${orgId}
      and replacement.report_id = artifact.report_id
      and replacement.path = artifact.path
      and replacement.status = 'pending'
      and replacement.id <> artifact.id
  )`
}

/** Formats of scan and SBOM attestations whose files are stored and not read. */
const UNREAD_FORMATS = ['grype-json', 'trivy-json', 'other']

/** An artifact, and the kinds of the attestations that name it. */
type NamedArtifact = { id: string; size: number; trust: TrustClass; kinds: ('scan' | 'sbom' | 'ownership')[] }

/**
 * Marks the uploaded artifacts that an attestation of the report names as announced, if they can be
 * read and nothing is about to replace them. Returns those that were not announced before.
 */
export async function updateAnnounced(tx: Tx, report: ReportKey): Promise<NamedArtifact[]> {
  return tx<NamedArtifact[]>`
    update ci_artifacts artifact
    set announced = true
    from (
      select data ->> 'artifact' as path, array_agg(distinct kind) as kinds
      from ci_attestations
      where org_id = ${report.org_id}
        and report_id = ${report.report_id}
        and kind in ('scan', 'sbom', 'ownership')
        and coalesce(data ->> 'format', '') <> all (${UNREAD_FORMATS})
      group by data ->> 'artifact'
    ) named
    where artifact.org_id = ${report.org_id}
      and artifact.report_id = ${report.report_id}
      and artifact.status = 'uploaded'
      and not artifact.announced
      and artifact.path = named.path
      and not ${hasReplacement(tx, report.org_id)}
    returning artifact.id, artifact.size, artifact.trust, named.kinds`
}

/** The bytes of the artifacts that were uploaded, or announced, since a time. */
export async function countArtifactBytes(db: Db, orgId: string, since: Date): Promise<number> {
  const [row] = await db<[{ bytes: number }]>`
    select coalesce(sum(size), 0)::bigint as bytes
    from ci_artifacts
    where org_id = ${orgId}
      and id >= ${getLowestUuid(since)}
      and status <> 'rejected'`
  return row.bytes
}
