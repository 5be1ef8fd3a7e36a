import { findClaimedRepository } from '../../ci/evidence/newest-runs.store.ts'
import { getLane, type TrustClass } from '../../ci/runs/trust.ts'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findRepositoryAt } from '../../repositories/repository.store.ts'
import { getDefaultHost } from '../../repositories/repository-identity.ts'
import type { Severity } from '../vocabulary/severity.ts'
import { buildSeverityCounts, buildSeverityRank } from '../writing/issue-writing.store.ts'
import { buildLaneRank, buildShownTrust, buildStreamKind, buildStreamLane } from '../writing/lane.store.ts'

type OpenFigures = { open: Record<Severity, number>; known_exploited: number; max_epss: number }

/** The last report of a tool, and how far its source can be trusted. `at` is an RFC 3339 time. */
type ScanFacts = {
  tracked: boolean
  tool: string
  category: string | null
  ref: string | null
  commit_sha: string | null
  at: string
  trust: string
}

type SecurityFacts = {
  scans: ScanFacts[]
  findings: OpenFigures
  issues: OpenFigures
  /** The sources of vulnerability data that were imported. */
  imported: string[]
}

/** Scans of one lane that are listed, the newest. */
const SCANS_MAX = 1000

type DeployedRef = { repositoryNos: number[]; branch: string | null; trackedBranch: string | null }

/**
 * Counts what is open in a repository, in one round trip. For each scope of a tool and each lane
 * the stream of the branch counts; if the branch has none, that of the tracked branch. Where nobody
 * knows this branch, all streams that say that they are tracked count, because none of their
 * senders speaks for the others. Alerts of both count, because under a branch the host lists only
 * what is not on the tracked one.
 */
async function findSecurityFacts(
  db: Db,
  orgId: string,
  { repositoryNos, branch, trackedBranch }: DeployedRef,
): Promise<SecurityFacts> {
  // What `streams` tell apart beside the ref. Two images of one scanner are two.
  const scope = db`
    repository_no, coalesce(tool_family, lower(tool)), coalesce(format_family, source), coalesce(subject, ''),
    coalesce(category, ''), spoken_by, case when origin = 'alert' then id end, ${buildStreamKind(db, db`origin`)}`
  const [row] = await db<[SecurityFacts]>`
    with reported as (
      select *, ${buildStreamLane(db, orgId, db`finding_streams`)} as spoken_by
      from finding_streams
      where org_id = ${orgId}
        and repository_no = any(${repositoryNos}::bigint[])
        and (tracked or branch_name(git_ref) = ${branch}::text)
        and reported_at > '-infinity'
        and ended_at is null
        and not preview
    ),
    ranked as (
      select *,
        rank() over (
          partition by ${scope}
          order by (branch_name(git_ref) = ${branch}::text) is true desc,
            (coalesce(branch_name(git_ref), ${trackedBranch}) = ${trackedBranch}::text) is true desc
        ) as preference
      from reported
    ),
    stream as materialized (
      select id, tool, category, git_ref, commit_sha, reported_at, origin, spoken_by, tracked, held,
        row_number() over (partition by spoken_by order by reported_at desc, id) as place
      from ranked
      where preference = 1
    )
    select ${scansJson(db)} as scans, ${findingsJson(db, orgId)} as findings,
      ${issuesJson(db, orgId, repositoryNos)} as issues,
      array(select source from intel_sources where imported_at is not null order by source) as imported`
  return row
}

/**
 * Alerts come from the code host itself. A report has the trust of the credential that sent it. One
 * without results that states that it failed or is cut is no scan. Neither are matches of the
 * inventory, because an import of advisories makes them, too.
 */
function scansJson(db: Db) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'tracked', tracked, 'tool', tool, 'category', category, 'ref', git_ref, 'commit_sha', commit_sha, 'at', rfc3339(reported_at),
        'trust', ${buildShownTrust(db, { lane: db`spoken_by`, origin: db`origin` })}
      )
      order by reported_at desc, tool
    ), '[]')
    from stream
    where origin <> 'inventory'
      and place <= ${SCANS_MAX}
      and ((held ->> 'results')::integer = 0 and not (held -> 'may_be_repeated')::boolean) is not true
  )`
}

function findingsJson(db: Db, orgId: string) {
  return db`(
    select json_build_object(
      'open', ${buildSeverityCounts(db, buildSeverityRank(db, db`finding.severity`))},
      'known_exploited', count(*) filter (where issue.kev),
      'max_epss', coalesce(max(issue.epss), 0)
    )
    from findings finding
    join security_issues issue on issue.org_id = finding.org_id and issue.id = finding.issue_id
    where finding.org_id = ${orgId}
      and finding.stream_id = any(array(select id from stream where spoken_by <> 'untrusted'))
      and finding.state = 'open'
  )`
}

function issuesJson(db: Db, orgId: string, repositoryNos: number[]) {
  return db`(
    select json_build_object(
      'open', ${buildSeverityCounts(db, db`severity`)},
      'known_exploited', count(*) filter (where kev),
      'max_epss', coalesce(max(epss), 0)
    )
    from security_issues
    where org_id = ${orgId}
      and repository_no = any(${repositoryNos}::bigint[])
      and listed
      and status = 'open'
  )`
}

const MATCHES_MAX = 100

type RepositoryAtHost = {
  /** The name without the host. */
  name: string
  /** The repository with this address, linked or as a token names it. */
  linked: { provider: string; id: string } | null
  /** The one that the newest token of this address names. Others of its name stay beside it. */
  claimed?: { provider: string; id: string } | null
  /** The provider whose default host it is. */
  provider: string | null
}

/**
 * Selects the numbers of a reported repository: by its provider's id, and by its name if the id was
 * not known.
 */
export function buildRepositoryNos(db: Db, orgId: string, { name, linked, claimed, provider }: RepositoryAtHost) {
  const known = linked ?? claimed ?? null
  return db`
    select id
    from reported_repositories
    where org_id = ${orgId}
      and (
        (provider, provider_id) = (${known?.provider ?? null}::text, ${known?.id ?? null}::text)
        or (lower(name) = lower(${name}) and (
          provider is null
          or (provider = ${linked?.provider ?? provider}::text and (provider_id is null or ${linked === null}))
        ))
      )
    order by id
    limit ${MATCHES_MAX}`
}

/** Lists the names of reported repositories. */
export async function listReportedNames(db: Db, orgId: string, limit: number): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct name
    from reported_repositories
    where org_id = ${orgId}
    order by name
    limit ${limit}`
  return rows.map(({ name }) => name)
}

/**
 * Finds an upload's repository and the run whose artifact it is. Returns null if it was deleted.
 */
export async function findUploadSubject(db: Db, orgId: string, uploadId: string) {
  const [row] = await db<{ name: string; run_id: string | null }[]>`
    select repository.name, upload.run_id
    from security_uploads upload
    join reported_repositories repository
      on repository.org_id = upload.org_id and repository.id = upload.repository_no
    where upload.org_id = ${orgId}
      and upload.id = ${uploadId}`
  return row ?? null
}

/**
 * Counts the open findings and issues of a branch, or of another ref by its full name, of the
 * repository `host/owner/name`; null means the tracked branch.
 */
export async function findPolicyFacts(
  db: Db,
  orgId: string,
  repository: string,
  branch: string | null,
): Promise<SecurityFacts> {
  const { linked, numbers } = await locateReported(db, orgId, repository)
  const trackedBranch = linked?.tracked_branch ?? null
  return findSecurityFacts(db, orgId, { repositoryNos: numbers, branch: branch ?? trackedBranch, trackedBranch })
}

/** The numbers under which a repository was reported, and its connection. */
async function locateReported(db: Db, orgId: string, repository: string) {
  const { host, name, linked } = await findRepositoryAt(db, orgId, repository)
  const provider = PROVIDERS.find((known) => getDefaultHost(known) === host) ?? null
  // Without a link, only tokens say which provider a host of its own belongs to, and what a
  // repository with a new name was called before.
  const claimed = linked === null ? await findClaimedRepository(db, orgId, repository) : null
  const reported = { name, linked: linked ?? (provider === null ? claimed : null), claimed, provider }
  const rows = await db<{ id: number }[]>`${buildRepositoryNos(db, orgId, reported)}`
  return { linked, numbers: rows.map(({ id }) => id) }
}

type ReportedBranch = { org_id: string; repository: string; branch: string | null }

/**
 * Whether a security report of the branch or of the tracked one was read since, in this lane or a
 * stronger one, whoever has sent the same file in others. `repository` is `host/owner/name`.
 */
export async function hasReportsSince(
  db: Db,
  { org_id, repository, branch }: ReportedBranch,
  { lane, since }: { lane: TrustClass; since: Date },
): Promise<boolean> {
  const { linked, numbers } = await locateReported(db, org_id, repository)
  const trackedBranch = linked?.tracked_branch ?? null
  const rank = buildLaneRank(db, buildStreamLane(db, org_id, db`stream`))
  const rows = await db`
    select from finding_streams stream
    where org_id = ${org_id}
      and repository_no = any(${numbers}::bigint[])
      and origin <> 'alert'
      and seen_at > ${since}
      and ${rank} >= ${buildLaneRank(db, db`${getLane(lane)}::text`)}
      and (
        branch_name(git_ref) = ${branch}
        or (tracked and coalesce(branch_name(git_ref) = ${trackedBranch}, true))
      )
    limit 1`
  return rows.length > 0
}
