import {
  countExpired,
  defineExpiringRows,
  deleteBy,
  type Expiring,
  type ExpiringTable,
  type ExpiringWithId,
  lockExpired,
} from '../../platform/db/expiring-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { isOfRepositories, lockIdleRepositories } from '../writing/grouping.store.ts'
import { updateRefreshedIssues } from '../writing/issue-writing.store.ts'

/**
 * Findings that were fixed, or dismissed by their source, and that no report has contained since.
 * A finding that is still reported stays, also if a person has dismissed it: the next report would
 * open it again. The finding of an alert stays while the alert does.
 */
const EXPIRED: ExpiringWithId = {
  kind: 'findings',
  table: 'findings',
  order: 'last_seen_at',
  isExpired: (db, { before }) => db`
    item.reported_state <> 'open'
    and item.last_seen_at < ${before}
    and item.updated_at < ${before}
    and not exists (
      select from alert_findings link
      where link.org_id = item.org_id
        and link.finding_id = item.id
    )`,
}

/** The parts of findings: what triages, edits of issues and the inventory say about them. */
const PARTS = { tables: ['triage_findings', 'issue_pins', 'inventory_matches'], column: 'finding_id' }

export const expiringFindings = buildExpiringFindings(EXPIRED)

/** Findings with their parts. Their issues are settled anew. */
function buildExpiringFindings(expired: ExpiringWithId): Expiring {
  return {
    kind: expired.kind,
    count: (db, expiry) => countExpired(db, expired, expiry),
    async remove(tx, batch) {
      const condition = isOfRepositories(tx, await lockIdleRepositories(tx, expired, batch))
      const { ids, removal } = await lockExpired(tx, expired, { ...batch, condition })
      if (ids.length === 0) return removal
      const issueIds = await listIssues(tx, batch.org_id, ids)
      await deleteBy(tx, PARTS, batch.org_id, ids)
      await deleteBy(tx, { tables: [expired.table], column: 'id' }, batch.org_id, ids)
      await updateRefreshedIssues(tx, batch.org_id, issueIds, batch.at)
      return removal
    },
  }
}

async function listIssues(tx: Tx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ issue_id: string }[]>`
    select distinct issue_id
    from findings
    where org_id = ${orgId}
      and id = any(${[...ids]})`
  return rows.map(({ issue_id }) => issue_id)
}

const STREAMS_AT_ONCE = 100

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
        and not stream.tracked
        and stream.seen_at < ${before}
        and stream.origin <> 'alert'
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
