import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { findById, findHost } from '../../repositories/repository.store.ts'
import { isTracked } from '../../repositories/repository-identity.ts'
import type { VexFormat } from '../formats/catalogue.ts'
import type { VexStatus } from '../formats/report/vex-statement.ts'
import type { RepositoryIdentity } from '../repositories/reported-repository.store.ts'
import { toSeverityRank } from '../vocabulary/severity.ts'
import type { RepositoryChange } from '../writing/grouping.store.ts'
import type { NewIssues } from '../writing/issue-writing.store.ts'
import { buildStreamLane } from '../writing/lane.store.ts'
import { buildStatedDismissal, type StatedDismissal } from './stated-triage.store.ts'
import type { FoundPackage, OwnRepository } from './statement-match.ts'

/** A repository of an organization. */
export type RepositoryScope = Omit<RepositoryChange, 'at'>

export type AppliedDocument = {
  id: string
  format: VexFormat
  tracked: boolean
  /** The branch or other ref that the document is for. */
  ref: string | null
  issued_at: Date
  reported_at: Date
  /** Null for a document that was stored before its sender was. */
  stated_by_name: string | null
}

/** The repositories of all organizations that have documents. */
export function listRepositories(db: Db): Promise<RepositoryScope[]> {
  return db<RepositoryScope[]>`
    select distinct org_id, repository_no
    from vex_documents
    order by org_id, repository_no`
}

/** The documents of a repository that are in effect. Proposals are not. */
export function listDocuments(db: Db, { org_id, repository_no }: RepositoryScope): Promise<AppliedDocument[]> {
  return db<AppliedDocument[]>`
    select id, format, tracked, branch_name(git_ref) as ref, issued_at, reported_at, stated_by_name
    from vex_documents
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and not pending
    order by reported_at, id`
}

export async function findOwnRepository(db: Db, { org_id, repository_no }: RepositoryScope): Promise<OwnRepository> {
  const [row] = await db<[RepositoryIdentity]>`
    select name, provider, provider_id
    from reported_repositories
    where org_id = ${org_id}
      and id = ${repository_no}`
  const { name, provider, provider_id } = row
  const isLinked = provider !== null && provider_id !== null
  return { name, provider, host: isLinked ? await findHost(db, org_id, provider, provider_id) : null }
}

/** Whether a ref is the tracked branch. Of a repository that is not linked nobody knows it. */
export async function isOfTrackedBranch(
  db: Db,
  { org_id, repository_no }: RepositoryScope,
  ref: string | null,
): Promise<boolean> {
  const [row] = await db<[RepositoryIdentity]>`
    select name, provider, provider_id
    from reported_repositories
    where org_id = ${org_id}
      and id = ${repository_no}`
  const { provider, provider_id } = row
  if (provider === null || provider_id === null) return false
  const linked = await findById(db, org_id, provider, provider_id)
  return linked !== null && isTracked(ref, linked.tracked_branch)
}

/** What decides whether a statement is about a finding. */
export type JudgedFacts = FoundPackage & {
  id: string
  vuln_ids: string[]
  ref: string | null
  commit_sha: string | null
  /** The image or other subject of the report; null if it stated none. */
  subject: string | null
  /** The digests of this image; null if the report stated none. */
  digests: string[] | null
  /** The dismissal by a document that is in effect. */
  stated: StatedDismissal | null
}

/** A finding that statements can be about, and the triage of a document that it has. */
export type Candidate = JudgedFacts & { triage_id: string | null }

/**
 * The findings about vulnerabilities that are open as reported or have the triage of a document:
 * all of the repository, or those that changed since a time.
 */
export async function listCandidates(tx: Tx, scope: RepositoryChange, changedSince: Date | null): Promise<Candidate[]> {
  const { org_id, repository_no } = scope
  // A look-up per finding: the planner does not know how many triages a document has just made.
  return tx<Candidate[]>`
    select finding.id, finding.purl, finding.package_name, finding.package_version, finding.vuln_ids,
      branch_name(stream.git_ref) as ref, coalesce(finding.last_commit_sha, stream.commit_sha) as commit_sha,
      stream.subject, stream.facts -> 'digests' as digests, stated.triage_id, stated.dismissal as stated
    from finding_streams stream
    join findings finding on finding.org_id = stream.org_id and finding.stream_id = stream.id
    left join lateral (
      select part.triage_id, ${buildStatedDismissal(tx)} as dismissal
      from triage_findings part
      join triages triage on triage.org_id = part.org_id and triage.id = part.triage_id
      where part.org_id = ${buildAverageId(tx, org_id)}
        and part.finding_id = finding.id
        and triage.source <> 'shiplock'
        and triage.ended_at is null
      limit 1
    ) stated on true
    where stream.org_id = ${buildAverageId(tx, org_id)}
      and stream.repository_no = ${buildAverageId(tx, repository_no)}
      and finding.vuln_ids <> '{}'
      and (finding.reported_state = 'open' or stated.triage_id is not null)
      ${changedSince === null ? tx`` : tx`and finding.updated_at >= ${changedSince}`}`
}

/** A statement with its ids as they are compared with those of findings. */
export type AppliedStatement = {
  document_id: string
  status: VexStatus
  names: string[]
  package: string | null
  product: string | null
  justification: string | null
  comment: string | null
  stated_at: Date | null
}

const STATEMENTS_AT_ONCE = 5000
/** More ids are slower to compare with every statement than all statements are to read. */
const NAMES_MAX = 1000

/**
 * Reads the statements of these documents about vulnerabilities with these canonical ids. May
 * return others, too.
 */
export function listStatements(
  db: Db,
  orgId: string,
  documentIds: readonly string[],
  names: readonly string[],
): AsyncIterable<AppliedStatement[]> {
  const isSelected =
    names.length > NAMES_MAX
      ? db``
      : db`
      and statement.vuln_ids && (
        array(
          select id
          from vulnerability_aliases
          where canonical_id = any(${[...names]}::text[])
        ) || ${[...names]}::text[]
      )`
  return db<AppliedStatement[]>`
    select statement.document_id, statement.status, statement.package, statement.product, statement.justification,
      statement.comment, statement.stated_at,
      array(
        select coalesce(alias.canonical_id, vuln_id)
        from unnest(statement.vuln_ids) vuln_id
        left join vulnerability_aliases alias on alias.id = vuln_id
      ) as names
    from vex_statements statement
    where statement.org_id = ${orgId}
      and statement.document_id = any(${[...documentIds]}::uuid[])
      ${isSelected}`.cursor(STATEMENTS_AT_ONCE)
}

/**
 * What reports of a repository are about, such as its images. Those of strangers say nothing of it:
 * they would change what a statement means. Matches repeat what a document is about. Earlier
 * versions of the program read some VEX documents as reports.
 */
export async function listSubjects(db: Db, { org_id, repository_no }: RepositoryScope): Promise<string[]> {
  const rows = await db<{ subject: string }[]>`
    select distinct subject
    from finding_streams stream
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and subject is not null
      and origin <> 'inventory'
      and ${buildStreamLane(db, org_id, db`stream`)} <> 'untrusted'
      and not exists (
        select from vex_documents document
        where document.org_id = stream.org_id
          and document.upload_id = stream.upload_id
      )`
  return rows.map(({ subject }) => subject)
}

/** The package URLs of all findings of a repository but those of strangers. */
export async function listPackages(db: Db, { org_id, repository_no }: RepositoryScope): Promise<string[]> {
  const rows = await db<{ purl: string }[]>`
    select distinct finding.purl
    from finding_streams stream
    join findings finding on finding.org_id = stream.org_id and finding.stream_id = stream.id
    where stream.org_id = ${buildAverageId(db, org_id)}
      and stream.repository_no = ${buildAverageId(db, repository_no)}
      and ${buildStreamLane(db, org_id, db`stream`)} <> 'untrusted'
      and finding.purl is not null`
  return rows.map(({ purl }) => purl)
}

/** Of these issues, counts those that were made at this time and are closed. */
export async function countClosed(
  db: Db,
  { org_id, at }: RepositoryChange,
  issueIds: readonly string[],
): Promise<NewIssues> {
  const [row] = await db<[NewIssues]>`
    select count(*) as open, count(*) filter (where severity = ${toSeverityRank('critical')}) as critical,
      count(*) filter (where severity = ${toSeverityRank('high')}) as high
    from security_issues
    where org_id = ${buildAverageId(db, org_id)}
      and id = any(${[...issueIds]}::uuid[])
      and created_at = ${at}
      and listed
      and status <> 'open'`
  return row
}
