import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'
import type { StoredEdit } from '../../triage/writing/triaged-finding.store.ts'

export async function findEdit(db: Db, orgId: string, triageId: string): Promise<StoredEdit | null> {
  const [edit] = await db<StoredEdit[]>`
    select org_id, no, repository_no
    from issue_edits
    where org_id = ${orgId}
      and triage_id = ${triageId}`
  return edit ?? null
}

/** Later splits and merges that contain findings of this one. */
export async function listLaterEdits(db: Db, orgId: string, triageId: string): Promise<string[]> {
  const rows = await db<{ triage_id: string }[]>`
    select distinct later_edit.triage_id
    from issue_edits edit
    join issue_pins own on own.org_id = edit.org_id and own.edit_no = edit.no
    join issue_pins later
      on later.org_id = own.org_id
      and later.finding_id = own.finding_id
      and later.edit_no > own.edit_no
    join issue_edits later_edit on later_edit.org_id = later.org_id and later_edit.no = later.edit_no
    where edit.org_id = ${orgId}
      and edit.triage_id = ${triageId}
    order by later_edit.triage_id`
  return rows.map(({ triage_id }) => triage_id)
}

/** Where the findings of an edit were before it, and where they are now. */
export type EditMove = { before: string; now: string }

export async function listMoves(tx: Tx, { org_id, no }: StoredEdit): Promise<EditMove[]> {
  return tx<EditMove[]>`
    select distinct pin.issue_id as before, finding.issue_id as now
    from issue_pins pin
    join findings finding on finding.org_id = pin.org_id and finding.id = pin.finding_id
    where pin.org_id = ${buildAverageId(tx, org_id)}
      and pin.edit_no = ${buildAverageId(tx, no)}
    order by before, now`
}

export async function deleteEdit(tx: Tx, { org_id, no }: StoredEdit): Promise<void> {
  await tx`
    delete from issue_pins
    where org_id = ${org_id}
      and edit_no = ${no}`
  await tx`
    delete from issue_edits
    where org_id = ${org_id}
      and no = ${no}`
}

/** Returns those of these issues that have no finding and are not merged into another issue. */
export async function listEmpty(tx: Tx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id
    from security_issues issue
    where org_id = ${buildAverageId(tx, orgId)}
      and id = any(${ids}::uuid[])
      and merged_into is null
      and not exists (select from findings where findings.org_id = issue.org_id and findings.issue_id = issue.id)`
  return rows.map(({ id }) => id)
}
