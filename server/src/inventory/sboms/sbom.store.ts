import type { Lane } from '../../ci/runs/trust.ts'
import { type AskedDigest, TRACED_MAX } from '../../ci/subjects/traced-digest.store.ts'
import { defineExpiringRows, type Expiring } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { SbomSubject } from './sbom.ts'
import type { StreamContents } from './stream-contents.ts'

/** What tells the streams of bills of materials apart. */
export type SbomStreamKey = {
  org_id: string
  repository_no: number
  category: string | null
  git_ref: string | null
  tool: string
  subject: string | null
  format: string
  lane: Lane
}

/** `has_ended`: other tools have replaced it, so that nothing of it is present. */
export type SbomStream = StreamContents & {
  id: number
  reported_at: Date
  upload_id: string | null
  has_ended: boolean
}

/** Creates a stream where it is missing, and locks it until the transaction ends. */
export async function lockSbomStream(tx: Tx, key: SbomStreamKey, tracked: boolean): Promise<SbomStream> {
  const { org_id, repository_no, category, git_ref, tool, subject, format, lane } = key
  await tx`
    insert into inventory_streams (
      org_id, repository_no, category, git_ref, tool, subject, format, lane, tracked, reported_at, seen_at
    )
    values (
      ${org_id}, ${repository_no}, ${category}, ${git_ref}, ${tool}, ${subject}, ${format}, ${lane}, ${tracked},
      '-infinity', '-infinity'
    )
    on conflict do nothing`
  const [row] = await tx<[SbomStream]>`
    select id, upload_id, present, parents, since, held, ended_at is not null as has_ended,
      case when reported_at = '-infinity' then 'epoch' else reported_at end as reported_at
    from inventory_streams
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and coalesce(category, '') = coalesce(${category}::text, '')
      and coalesce(branch_name(git_ref), '') = coalesce(branch_name(${git_ref}), '')
      and tool = ${tool}
      and format = ${format}
      and coalesce(subject, '') = coalesce(${subject}::text, '')
      and lane = ${lane}
    for update`
  return row
}

/** The report that is now the newest of a stream. */
export type NewestSbom = {
  upload_id: string
  commit_sha: string | null
  git_ref: string | null
  tracked: boolean
  reported_at: Date
}

/** Without `contents` they are those of the document before. */
export async function updateSbomStream(
  tx: Tx,
  { org_id, id }: { org_id: string; id: number },
  newest: NewestSbom,
  contents: StreamContents,
): Promise<void> {
  await tx`
    update inventory_streams
    set upload_id = ${newest.upload_id}, commit_sha = ${newest.commit_sha}, git_ref = ${newest.git_ref},
      tracked = ${newest.tracked}, reported_at = ${newest.reported_at},
      seen_at = greatest(seen_at, ${newest.reported_at}), present = ${contents.present}::bigint[],
      parents = ${contents.parents}::integer[], since = ${contents.since}::timestamptz[], held = ${contents.held}::bigint[],
      others = 0, ended_at = null
    where org_id = ${org_id}
      and id = ${id}`
}

/** A tool ends after so many documents of others, if it sent none for so long. */
const OTHERS_MAX = 5
const SILENT_DAYS = 7

/**
 * Counts a document for the other streams of its repository, category, ref, subject and lane, and
 * ends those that it replaces. Returns the numbers of the facts of those that ended.
 */
export async function updateReplacedStreams(
  tx: Tx,
  { org_id, repository_no, category, git_ref, subject, lane }: Omit<SbomStreamKey, 'tool' | 'format'>,
  id: number,
  at: Date,
): Promise<number[]> {
  const rows = await tx<{ present: number[] }[]>`
    with replaced as (
      update inventory_streams stream
      set others = others + 1,
        ended_at = case
          when others + 1 >= ${OTHERS_MAX} and seen_at <= ${at}::timestamptz - make_interval(days => ${SILENT_DAYS})
          then ${at}::timestamptz
        end
      where org_id = ${org_id}
        and repository_no = ${repository_no}
        and coalesce(category, '') = coalesce(${category}::text, '')
        and branch_name(git_ref) = branch_name(${git_ref})
        and coalesce(subject, '') = coalesce(${subject}::text, '')
        and lane = ${lane}
        and id <> ${id}
        and ended_at is null
      returning ended_at, present
    )
    select present
    from replaced
    where ended_at is not null`
  return rows.flatMap(({ present }) => present)
}

export type SbomRow = {
  org_id: string
  id: string
  stream_id: number
  is_older: boolean
  subjects: SbomSubject[]
  operating_system: string | null
  /** The kinds of packages that it contains, as `npm` and `deb/debian`. */
  package_types: string[]
  components: number
  skipped: number
  truncated: boolean
  added: number[]
  removed: number[]
  removed_since: Date[]
  created_at: Date
}

/** Returns the number of the document. */
export async function insertSbom(tx: Tx, sbom: SbomRow): Promise<number> {
  const [{ no }] = await tx<[{ no: number }]>`
    insert into sboms (
      org_id, id, stream_id, is_older, subjects, operating_system, package_types, components, skipped, truncated, added, removed,
      removed_since, created_at
    )
    values (
      ${sbom.org_id}, ${sbom.id}, ${sbom.stream_id}, ${sbom.is_older}, ${tx.json(sbom.subjects)},
      ${sbom.operating_system}, ${sbom.package_types}, ${sbom.components}, ${sbom.skipped}, ${sbom.truncated}, ${sbom.added}::bigint[],
      ${sbom.removed}::bigint[], ${sbom.removed_since}::timestamptz[], ${sbom.created_at}
    )
    returning no`
  return no
}

type NewestDocument = { no: number; operating_system: string | null }

/** The newest document of a stream that changed what is present; null before the first. */
export async function findNewestSbom(tx: Tx, orgId: string, streamId: number): Promise<NewestDocument | null> {
  const [row] = await tx<NewestDocument[]>`
    select no, operating_system
    from sboms
    where org_id = ${orgId}
      and stream_id = ${streamId}
      and not is_older
    order by created_at desc, no desc
    limit 1`
  return row ?? null
}

type SbomCommit = { commit_sha: string | null; upload_id: string; reported_at: Date }

/** Notes that a document is about a commit. */
export async function insertSbomCommit(tx: Tx, orgId: string, no: number, commit: SbomCommit): Promise<void> {
  if (commit.commit_sha === null) return
  await tx`
    insert into sbom_commits (org_id, sbom_no, commit_sha, upload_id, run_id, reported_at)
    select ${orgId}, ${no}, ${commit.commit_sha}, upload.id, upload.run_id, ${commit.reported_at}
    from security_uploads upload
    where upload.org_id = ${orgId}
      and upload.id = ${commit.upload_id}
    on conflict do nothing`
}

export type SeenAgainSbom = { org_id: string; upload_id: string; lane: Lane; commit_sha: string; at: Date }

/** Locks the streams whose newest document is an upload, and notes its new commit. */
export async function updateSeenAgainStreams(tx: Tx, seen: SeenAgainSbom): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    update inventory_streams
    set commit_sha = ${seen.commit_sha}, reported_at = ${seen.at}, seen_at = greatest(seen_at, ${seen.at})
    where org_id = ${seen.org_id}
      and upload_id = ${seen.upload_id}
      and lane = ${seen.lane}
      and reported_at <= ${seen.at}
    returning id`
  return rows.map(({ id }) => id)
}

/**
 * SQL: whether an upload `item` is the newest document of a branch that is tracked or was seen
 * since.
 */
export function buildIsNewestSbom(db: Db, item: ReturnType<Db>, before: Date) {
  return db`
    exists (
      select from inventory_streams stream
      where stream.org_id = ${item}.org_id
        and stream.upload_id = ${item}.id
        and (stream.tracked or stream.seen_at >= ${before})
    )`
}

/** The upload of a bill of materials by its id or that of its artifact; null if there is none. */
export async function findSbomUpload(db: Db, orgId: string, id: string): Promise<string | null> {
  const [row] = await db<{ id: string }[]>`
    select id
    from security_uploads
    where org_id = ${orgId}
      and (id = ${id} or artifact_id = ${id})
      and format in ('cyclonedx', 'spdx')
      and status = 'finished'
    order by created_at desc
    limit 1`
  return row?.id ?? null
}

type TracedSbom = {
  id: string
  repository: string
  category: string | null
  components: number
  lane: Lane
  created_at: string
}

/** Documents that name a digest as what they are about, newest first. */
export async function listSbomsOfDigest(db: Db, { org_id, sha256 }: AskedDigest): Promise<TracedSbom[]> {
  return db<TracedSbom[]>`
    select sbom.id, repository.name as repository, stream.category, sbom.components, stream.lane,
      rfc3339(sbom.created_at) as created_at
    from sboms sbom
    join inventory_streams stream on stream.org_id = sbom.org_id and stream.id = sbom.stream_id
    join reported_repositories repository on repository.org_id = stream.org_id and repository.id = stream.repository_no
    where sbom.org_id = ${org_id}
      and sbom.subjects @> ${db.json([{ sha256 }])}::jsonb
    order by sbom.created_at desc, sbom.no desc
    limit ${TRACED_MAX}`
}

/** A commit of a repository; `id` is any of the caller's. */
export type AskedCommit = { id: string; commit_sha: string | null; repository_nos: number[] }

/** Which of these commits have a bill of materials that could not be read. */
export async function listUnreadableCommits(
  db: Db,
  orgId: string,
  asked: readonly AskedCommit[],
): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    select asked.id
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as asked (
      id text, commit_sha text, repository_nos bigint[]
    )
    where exists (
      select from security_uploads upload
      where upload.org_id = ${orgId}
        and upload.repository_no = any(asked.repository_nos)
        and upload.commit_sha = asked.commit_sha
        and upload.status = 'failed'
        and coalesce(upload.format, upload.requested_format) in ('cyclonedx', 'spdx')
    )`
  return new Set(rows.map(({ id }) => id))
}

/**
 * SQL: the deployments of an organization that run, with `commit_sha`, `repository_full_name` and
 * `begun_at`. They are of a slice above this one.
 */
export type BuildRunning = (db: Db, orgId: string) => object

/** SQL: whether an upload `item` has sent a document about a commit that runs. */
export function buildIsAboutRunning(db: Db, item: ReturnType<Db>, running: object) {
  return db`exists (
    select from sbom_commits about
    where about.org_id = ${item}.org_id
      and about.upload_id = ${item}.id
      and about.commit_sha in (select commit_sha from (${running as ReturnType<Db>}) running)
  )`
}

/**
 * SQL: whether a document `item` is evidence of a deployment that runs, or is needed to read one of
 * its stream that is: contents are read from the newest document back.
 */
function buildIsEvidence(db: Db, running: object) {
  const all = running as ReturnType<Db>
  return db`(
    exists (
      select from sboms evidence
      join sbom_commits about on about.org_id = evidence.org_id and about.sbom_no = evidence.no
      where evidence.org_id = item.org_id
        and evidence.stream_id = item.stream_id
        and evidence.no <= item.no
        and about.commit_sha in (select commit_sha from (${all}) running)
    )
    or exists (
      select from inventory_streams stream
      join reported_repositories repository on repository.org_id = stream.org_id and repository.id = stream.repository_no
      join (${all}) running on lower(running.repository_full_name) = lower(repository.name)
      where stream.org_id = item.org_id
        and stream.id = item.stream_id
        and stream.tracked
        and not exists (
          select from sbom_commits about
          where about.org_id = item.org_id
            and about.commit_sha = running.commit_sha
        )
        and not exists (
          select from sboms newer
          where newer.org_id = item.org_id
            and newer.stream_id = item.stream_id
            and not newer.is_older
            and (newer.created_at, newer.no) > (item.created_at, item.no)
            and newer.created_at <= running.begun_at
        )
    )
  )`
}

/**
 * Documents that are no longer the newest of their streams, with the commits that they are about.
 * Those that are evidence of what runs stay.
 */
export function buildExpiringSboms(buildRunning: BuildRunning): Expiring {
  return defineExpiringRows({
    kind: 'sboms',
    table: 'sboms',
    key: ['no'],
    order: 'created_at',
    isExpired: (db, { org_id, before }) => db`
      item.created_at < ${before}
      and (
        item.is_older
        or exists (
          select from sboms newer
          where newer.org_id = item.org_id
            and newer.stream_id = item.stream_id
            and not newer.is_older
            and (newer.created_at, newer.no) > (item.created_at, item.no)
        )
      )
      and not ${buildIsEvidence(db, buildRunning(db, org_id))}`,
    parts: [{ table: 'sbom_commits', columns: ['sbom_no'] }],
  })
}
