import type { ExpiredBatch, ExpiringWithId } from '../../platform/db/expiring-rows.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { openCopy, writeCopy } from '../../platform/db/table-copy.ts'
import { lockIntel } from '../intel/intel-source.store.ts'
import type { IssueRow } from '../issues/grouping/describe-groups.ts'
import { type GroupingFacts, MESSAGE_MAX, type Member, SPEAKING_TOOLS } from '../issues/grouping/grouping-facts.ts'
import type { CanonicalId } from '../issues/grouping/shared-names.ts'
import { OTHER_LOCATIONS } from '../vocabulary/message-marks.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'

/** What grouping and writing a repository's findings needs besides the usual steps. */
type LockedRepository = {
  /** True if anything has ever been triaged. */
  has_triages: boolean
  /** True if a person has ever split or merged an issue. */
  has_edits: boolean
}

/** The repository whose findings a transaction writes, and the time of the change. */
export type MergeScope = RepositoryChange & Pick<LockedRepository, 'has_edits'>

/** The repository whose findings a transaction changes, and the time of the change. */
export type RepositoryChange = { org_id: string; repository_no: number; at: Date }

/**
 * Locks a repository, so that transactions that group its findings take turns. Waits without a
 * timeout.
 */
export async function lockRepository(tx: Tx, orgId: string, repositoryNo: number): Promise<LockedRepository> {
  await tx`set local statement_timeout = 0`
  const [locked] = await tx<[LockedRepository]>`
    select has_triages, has_edits
    from reported_repositories
    where org_id = ${orgId}
      and id = ${repositoryNo}
    for no key update`
  return locked
}

export async function hasIssues(db: Db, orgId: string, repositoryNo: number): Promise<boolean> {
  const rows = await db`
    select from security_issues
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and merged_into is null
    limit 1`
  return rows.length > 0
}

/** Reads all stored findings of these buckets. */
export async function listMembers(
  db: Db,
  orgId: string,
  repositoryNo: number,
  buckets: readonly string[],
): Promise<Member[]> {
  return db<Member[]>`
    select ${buildMemberColumns(db)}
    from (select distinct decode(hex, 'hex') as bucket from unnest(${buckets}::text[]) hex) touched
    join security_issues issue
      on issue.org_id = ${buildAverageId(db, orgId)}
      and issue.repository_no = ${buildAverageId(db, repositoryNo)}
      and issue.bucket = touched.bucket
      and issue.merged_into is null
    join findings finding on finding.org_id = issue.org_id and finding.issue_id = issue.id
    join finding_streams stream on stream.org_id = finding.org_id and stream.id = finding.stream_id`
}

/** The columns of a `Member`, from the aliases `finding`, `issue` and `stream`. */
export function buildMemberColumns(db: Db) {
  return db`
    finding.id, finding.issue_id, finding.kind, stream.tool, stream.id as stream_id,
    stream.origin = 'alert' as is_alert, finding.path, finding.start_line, finding.end_line,
    finding.start_column, finding.end_column,
    finding.package_name, finding.purl, finding.vuln_ids, finding.cwes, finding.rule_id, finding.secret_type,
    finding.resource_name,
    case
      when stream.tool ilike any(${SPEAKING_TOOLS.map((name) => `${name}%`)}::text[])
      then left(finding.description, ${MESSAGE_MAX})
    end as message,
    case
      when finding.start_line is null
        or finding.fingerprint_method <> 'message'
        and not (finding.kind = 'secret' and finding.fingerprint_method = 'partialFingerprints')
      then encode(finding.fingerprint, 'hex')
    end as fingerprint,
    encode(finding.context, 'hex') as context,
    case
      when finding.vuln_ids = '{}'
      then encode(
        substring(sha256(convert_to(split_part(finding.description, ${OTHER_LOCATIONS}, 1), 'UTF8')) for 8), 'hex'
      )
    end as told,
    finding.grouping_code, finding.grouping_detail, encode(issue.bucket, 'hex') as bucket, finding.severity,
    finding.state = 'open' as is_open, stream.tracked as is_tracked, null as position`
}

/** Reads the canonical ids of those ids that have aliases. */
export async function listCanonicalIds(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db<{ id: string; canonical_id: string }[]>`
    select id, canonical_id
    from vulnerability_aliases
    where id = any(${ids}::text[])`
  return new Map(rows.map((row) => [row.id, row.canonical_id]))
}

/**
 * Reads the canonical ids of the vulnerabilities that findings name. They do not change until the
 * transaction ends.
 */
export async function lockCanonicalNames(tx: Tx, facts: readonly GroupingFacts[]): Promise<CanonicalId> {
  const ids = [...new Set(facts.flatMap((finding) => finding.vuln_ids.map(removeDistribution)))]
  if (ids.length === 0) return (id) => id
  await lockIntel(tx)
  const canonicalIds = await listCanonicalIds(tx, ids)
  return (id) => canonicalIds.get(id) ?? id
}

/**
 * Locks the repositories in the order of their numbers, as everything that writes findings does,
 * and notes that they have triages. Without the lock, a report could give an issue a finding while
 * the issue is dismissed. A bounded wait throws PostgreSQL's `lock_not_available` after 10 seconds.
 */
export async function lockTriaged(
  tx: Tx,
  orgId: string,
  repositoryNos: readonly number[],
  { wait = 'unbounded' }: { wait?: 'bounded' | 'unbounded' } = {},
): Promise<void> {
  await tx`set local statement_timeout = 0`
  if (wait === 'bounded') await tx`set local lock_timeout = '10s'`
  await tx`
    select from reported_repositories
    where org_id = ${orgId}
      and id = any(${[...repositoryNos]}::bigint[])
    order by id
    for no key update`
  await tx`set local lock_timeout to default`
  await tx`
    update reported_repositories
    set has_triages = true
    where org_id = ${orgId}
      and id = any(${[...repositoryNos]}::bigint[])
      and not has_triages`
}

/**
 * Groups to write, as lines in COPY text format: they can be formatted while PostgreSQL does other
 * work.
 */
export type GroupedLines = {
  /** The changed issues: rows of `grouped_issues`. */
  issues: readonly string[]
  /** The findings of all groups: rows of `grouped`. */
  findings: readonly string[]
}

export const ISSUE_COLUMNS = [
  'id',
  'is_new',
  'bucket',
  'kind',
  'severity',
  'status',
  'listed',
  'vuln_ids',
  'canonical_id',
  'split_from',
] as const satisfies (keyof IssueRow)[]
const FINDING_COLUMNS = ['position', 'finding_id', 'issue_id', 'grouping_code', 'grouping_detail']

declare const copied: unique symbol

/**
 * The temporary tables of a grouping: `grouped` has the issue of each finding, and `grouped_issues`
 * the issues to write. Only `copyGrouped` returns this handle, so nothing can read the tables
 * before they are filled. They exist until `deleteGrouped` or the end of the transaction.
 */
export type Grouped = { readonly tx: Tx; readonly scope: MergeScope; readonly [copied]: true }

/** Adds the findings to `grouped`, and fills `grouped_issues` with these issues alone. */
export async function copyGrouped(tx: Tx, scope: MergeScope, lines: GroupedLines): Promise<Grouped> {
  await tx`drop table if exists grouped_issues`
  await tx`
    create temporary table grouped_issues (
      id uuid, is_new boolean, bucket bytea, kind text, severity smallint, status text, listed boolean, vuln_ids text[],
      canonical_id text collate "C", split_from uuid
    ) on commit drop`
  await writeCopy(await openCopy(tx, 'grouped_issues', ISSUE_COLUMNS), (copy) => copy.writeLines(lines.issues))
  await tx`
    create temporary table if not exists grouped (
      position integer, finding_id uuid, issue_id uuid, grouping_code text, grouping_detail text
    ) on commit drop`
  await writeCopy(await openCopy(tx, 'grouped', FINDING_COLUMNS), (copy) => copy.writeLines(lines.findings))
  return { tx, scope } as Grouped
}

/** Drops the tables, so that the same transaction can group other findings. */
export async function deleteGrouped({ tx }: Grouped): Promise<void> {
  await tx`drop table grouped, grouped_issues`
}

/**
 * Locks the repositories of a batch of findings or issues, as everything that writes them does, so
 * that no report pairs what is being removed. Those that a report is writing to are left out.
 * Returns the numbers of the others.
 */
export async function lockIdleRepositories(
  tx: Tx,
  { table, order, isExpired }: ExpiringWithId,
  batch: ExpiredBatch,
): Promise<number[]> {
  const locked = await tx<{ id: number }[]>`
    select id
    from reported_repositories
    where org_id = ${batch.org_id}
      and id in (
        select repository_no
        from (
          select item.repository_no
          from ${tx(table)} item
          where item.org_id = ${batch.org_id}
            and ${isExpired(tx, batch)}
            ${batch.from === null ? tx`` : tx`and item.${tx(order)} >= ${batch.from}`}
          order by item.${tx(order)}
          limit ${batch.limit}
        ) candidate
      )
    order by id
    for no key update skip locked`
  return locked.map(({ id }) => id)
}

/** SQL: whether a row `item` is of one of these repositories. */
export function isOfRepositories(tx: Tx, repositoryNos: readonly number[]): ReturnType<Tx> {
  return tx`item.repository_no = any(${[...repositoryNos]}::bigint[])`
}
