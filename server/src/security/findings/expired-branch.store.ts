import {
  defineExpiringRows,
  type Expiring,
  type ExpiringTable,
  type ExpiringWithId,
} from '../../platform/db/expiring-rows.ts'
import type { Db } from '../../platform/db/sql.ts'
import { isOfRepositories, lockIdleRepositories } from '../issues/writing/idle-repository.store.ts'
import { buildExpiringFindings } from './expired-finding.store.ts'

const STREAMS_AT_ONCE = 100

/** SQL: a stream of a branch that is not tracked, and that no report has been about since. */
function isUnseen(db: Db, before: Date) {
  return db`not stream.tracked and stream.seen_at < ${before} and stream.origin <> 'alert'`
}

/**
 * The findings of branches that are not tracked and that no report has been about since, also open
 * ones: the branch was merged or deleted, so that none will close them.
 */
const FINDINGS: ExpiringWithId = {
  kind: 'findings',
  table: 'findings',
  order: 'stream_id',
  isExpired: (db, { org_id, before }) => db`
    item.stream_id = any(array(
      select stream.id
      from finding_streams stream
      where stream.org_id = ${org_id}
        and ${isUnseen(db, before)}
        and exists (
          select from findings finding
          where finding.org_id = stream.org_id
            and finding.stream_id = stream.id
        )
      order by stream.id
      limit ${STREAMS_AT_ONCE}
    ))
    and not exists (
      select from alert_findings link
      where link.org_id = item.org_id
        and link.finding_id = item.id
    )`,
}

const STREAMS: ExpiringTable = {
  kind: 'finding_streams',
  table: 'finding_streams',
  key: ['id'],
  order: 'seen_at',
  isExpired: (db, { before }) => db`
    not item.tracked
    and item.seen_at < ${before}
    and item.origin <> 'alert'
    and not exists (
      select from findings finding
      where finding.org_id = item.org_id
        and finding.stream_id = item.id
    )`,
}

const streams = defineExpiringRows(STREAMS)

/** Reports lock the repository before they use its streams. */
const expiringStreams: Expiring = {
  ...streams,
  async remove(tx, batch) {
    const condition = isOfRepositories(tx, await lockIdleRepositories(tx, STREAMS, batch))
    return streams.remove(tx, { ...batch, condition })
  },
}

/** A document that a report of its branch could still need stays. */
const expiringDocuments = defineExpiringRows({
  kind: 'vex_documents',
  table: 'vex_documents',
  key: ['id'],
  order: 'reported_at',
  isExpired: (db, { before }) => db`
    not item.tracked
    and item.reported_at < ${before}
    and not exists (
      select from finding_streams stream
      where stream.org_id = item.org_id
        and stream.repository_no = item.repository_no
        and branch_name(stream.git_ref) = branch_name(item.git_ref)
    )`,
})

export const expiringBranches: readonly Expiring[] = [
  buildExpiringFindings(FINDINGS),
  expiringStreams,
  expiringDocuments,
]
