import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { NO_MATCHES } from '../matches/reconcile-matches.ts'
import { NO_OUTCOME } from '../reconcile/reconcile-report.ts'
import { buildProviderCondition } from '../repositories/reported-repository.store.ts'
import type { RepositoryReference, RepositorySelection } from '../repositories/select-repository.ts'
import { UPLOAD_STATUSES, type UploadStatus } from '../vocabulary/finding.ts'
import { buildShownTrust, buildUploadLane } from '../writing/lane.store.ts'
import { buildIsOpenUpload } from './expired-upload.store.ts'
import { UPLOAD_EXPIRED } from './upload-state.store.ts'

/**
 * An upload as JSON, or null if there is none that was not over before `since` (null: at any time).
 */
export async function findUploadJson(
  db: Db,
  orgId: string,
  id: string,
  { now, since = null }: { now: Date; since?: Date | null },
): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${uploadJson(db, now)} as json
    from security_uploads upload
    join reported_repositories repository
      on repository.org_id = upload.org_id and repository.id = upload.repository_no
    where upload.org_id = ${orgId}
      and upload.id = ${id}
      ${isRetained(db, since)}`
  return row?.json ?? null
}

type UploadSelection = RepositorySelection & { status: UploadStatus | null; runId: string | null; now: Date }

/** One page of uploads, newest first, and one row more where there is a next page. */
export function listUploads(db: Db, orgId: string, page: Page, selection: UploadSelection) {
  return db<PageRow[]>`
    select picked.created_at, picked.id, ${uploadJson(db, selection.now)} as json
    from (${pickPage(db, orgId, page, selection)}) picked
    cross join lateral (
      select upload.*
      from security_uploads upload
      where upload.org_id = ${orgId}
        and upload.id = picked.id
      offset 0
    ) upload
    join reported_repositories repository on repository.org_id = ${orgId} and repository.id = upload.repository_no
    order by picked.created_at desc, picked.id desc`
}

/** The repository of an upload; null if the organization has no such upload. */
export async function findUploadRepository(
  db: Db,
  orgId: string,
  id: string,
): Promise<(RepositoryReference & { no: number }) | null> {
  const [row] = await db<(RepositoryReference & { no: number })[]>`
    select repository.name, repository.provider, repository.provider_id as "providerId", upload.repository_no as no
    from security_uploads upload
    join reported_repositories repository
      on repository.org_id = upload.org_id and repository.id = upload.repository_no
    where upload.org_id = ${orgId}
      and upload.id = ${id}`
  return row ?? null
}

type UploadFile = { filename: string; size: number; artifact_id: string | null }

function isRetained(db: Db, since: Date | null) {
  if (since === null) return db``
  return db`and (upload.created_at >= ${since} or ${buildIsOpenUpload(db, db`upload`, since)})`
}

/**
 * The verified file of an upload that was not over before `since` (null: at any time); null if the
 * organization has no such upload, or it failed.
 */
export async function findUploadFile(
  db: Db,
  orgId: string,
  id: string,
  since: Date | null,
): Promise<UploadFile | null> {
  const [row] = await db<UploadFile[]>`
    select filename, size, artifact_id
    from security_uploads upload
    where upload.org_id = ${orgId}
      and upload.id = ${id}
      and upload.status in ('queued', 'parsing', 'finished')
      ${isRetained(db, since)}`
  return row ?? null
}

/** The newest of each status, and of each repository that is selected, and of these the newest. */
function pickPage(db: Db, orgId: string, page: Page, { repositoryNos, provider, status, runId, now }: UploadSelection) {
  const isOfAll = repositoryNos === null
  return db`
    select found.created_at, found.id
    from unnest(${storedStatuses(status)}::text[]) listed (status)
    ${isOfAll ? db`` : db`cross join unnest(${repositoryNos}::bigint[]) selected (repository_no)`}
    cross join lateral (
      select upload.created_at, upload.id
      from security_uploads upload
      where upload.org_id = ${orgId}
        ${isOfAll ? db`` : db`and upload.repository_no = selected.repository_no`}
        and upload.status = listed.status
        and ${buildPageCondition(db, page, db`upload`, buildIsOpenUpload(db, db`upload`, page.since))}
        ${status === null ? db`` : db`and ${shownStatus(db, now)} = ${status}`}
        ${runId === null ? db`` : db`and upload.run_id = ${runId}`}
        ${buildProviderCondition(db, orgId, db`upload`, provider)}
      order by upload.created_at desc, upload.id desc
      limit ${page.limit + 1}
    ) found
    order by found.created_at desc, found.id desc
    limit ${page.limit + 1}`
}

/** The stored statuses of uploads that are shown with this status, or all. */
function storedStatuses(status: UploadStatus | null): readonly UploadStatus[] {
  if (status === null) return UPLOAD_STATUSES
  return status === 'failed' ? ['failed', 'pending'] : [status]
}

/** A pending upload past its time is shown as failed before the job marks it. */
function shownStatus(db: Db, now: Date) {
  return db`case when ${isExpired(db, now)} then 'failed' else upload.status end`
}

function isExpired(db: Db, now: Date) {
  return db`(upload.status = 'pending' and upload.put_until <= ${now})`
}

function uploadJson(db: Db, now: Date) {
  return db`(
    select row_to_json(item)::text
    from (
      select upload.id, upload.origin, ${shownStatus(db, now)} as status, upload.format, upload.filename, upload.size,
        repository.name as repository, repository.provider, repository.provider_id as repository_id,
        coalesce(upload.category, upload.report_category) as category, upload.git_ref, upload.commit_sha,
        upload.tracked, ${lanesJson(db)} as lanes,
        jsonb_build_object(
          'findings', upload.findings, 'components', upload.components, 'matches', ${db.json(NO_MATCHES)}::jsonb
        )
          || coalesce(upload.outcome, ${db.json(NO_OUTCOME)}::jsonb) as counts,
        upload.truncated, upload.held, upload.warnings,
        exists (
          select from vex_documents document
          where document.org_id = upload.org_id
            and document.upload_id = upload.id
            and document.pending
        ) as awaits_confirmation,
        case when ${isExpired(db, now)} then ${UPLOAD_EXPIRED} else upload.error end as error,
        upload.run_id, upload.artifact_id,
        case when upload.created_by_type is not null then
          json_build_object('type', upload.created_by_type, 'id', upload.created_by_id, 'name', upload.created_by_name)
        end as created_by,
        rfc3339(upload.created_at) as created_at,
        rfc3339(case when ${isExpired(db, now)} then upload.put_until else upload.updated_at end) as updated_at
    ) item
  )`
}

/** Who sent the file of a row `upload`. One without lanes was stored before there were any. */
function lanesJson(db: Db) {
  const origin: ReturnType<Db> = db`upload.origin`
  return db`
    coalesce(
      (
        select json_agg(
          json_build_object(
            'trust', ${buildShownTrust(db, { lane: db`stated.lane`, origin })}, 'commit_sha', stated.commit_sha,
            'tracked', stated.tracked, 'complete', stated.complete, 'reported_at', rfc3339(stated.reported_at)
          )
          order by stated.reported_at, stated.lane
        )
        from security_upload_lanes stated
        where stated.org_id = upload.org_id
          and stated.upload_id = upload.id
      ),
      json_build_array(
        json_build_object(
          'trust', ${buildShownTrust(db, { lane: buildUploadLane(db, db`upload`), origin })},
          'commit_sha', coalesce(upload.reported_commit_sha, upload.commit_sha), 'tracked', upload.tracked, 'complete', null,
          'reported_at', rfc3339(upload.reported_at)
        )
      )
    )`
}
