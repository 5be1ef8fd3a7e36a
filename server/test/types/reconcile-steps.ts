// The compiler is the test: `npm run typecheck` fails where a line below `@ts-expect-error`
// compiles. The functions are never called.
import type { Tx } from '../../src/platform/db/sql.ts'
import { buildDetectedIntel, upsertFindings } from '../../src/security/reconcile/finding-merge.store.ts'
import { groupReport } from '../../src/security/reconcile/group-report.ts'
import { copyIncoming, type Incoming } from '../../src/security/reconcile/incoming.store.ts'
import { matchReport } from '../../src/security/reconcile/match-report.ts'
import type { ReportToReconcile } from '../../src/security/reconcile/reconcile-report.ts'
import { updateReportedIssues, updateReportedStreams } from '../../src/security/reconcile/record-report.store.ts'
import type { ReportMembers } from '../../src/security/reconcile/report-members.ts'
import { updateGrouping } from '../../src/security/writing/finding-writing.store.ts'
import { deleteGrouped } from '../../src/security/writing/grouping.store.ts'

const TOUCHED = { issueIds: [], streamIds: [] }

type Report = ReportToReconcile
type Scope = { org_id: string; repository_no: number; has_edits: boolean; at: Date }

export async function rightOrder(tx: Tx, members: ReportMembers, report: Report, scope: Scope): Promise<void> {
  const copy = await copyIncoming(tx, members)
  const incoming = await copy.end()
  const paired = await matchReport(incoming, scope, [], null)
  const grouped = await groupReport(paired)
  const written = await upsertFindings(grouped, [])
  const recorded = await updateReportedStreams(written, report, [])
  await updateReportedIssues(recorded, TOUCHED)
}

export async function pairsBeforeTheCopyEnds(tx: Tx, members: ReportMembers, scope: Scope): Promise<void> {
  const copy = await copyIncoming(tx, members)
  // @ts-expect-error The report must be copied completely before it is paired.
  await matchReport(copy, scope, [], null)
  // @ts-expect-error A transaction is no handle, even with everything that the handle has.
  await matchReport({ tx, members }, scope, [], null)
}

export async function skipsSteps(incoming: Incoming, report: Report, scope: Scope): Promise<void> {
  // @ts-expect-error A report must be paired before it is grouped.
  await groupReport(incoming)
  const paired = await matchReport(incoming, scope, [], null)
  // @ts-expect-error A report must be grouped before its findings are written.
  await upsertFindings(paired, [])
  // @ts-expect-error Nor does it help to look like a grouped report.
  await upsertFindings({ paired, touched: [], opened: { open: 0, critical: 0, high: 0 } }, [])
  // @ts-expect-error Findings must be written before the streams change, because they need the
  // previous report's time.
  await updateReportedStreams(await groupReport(paired), report, [])
  const written = await upsertFindings(await groupReport(paired), [])
  // @ts-expect-error The streams must be updated before issues are refreshed, because issues read
  // them.
  await updateReportedIssues(written, TOUCHED)
  // @ts-expect-error Intel must be looked up before it is read.
  buildDetectedIntel(paired)
}

export async function readsGroupingTablesUnfilled(tx: Tx, scope: Scope): Promise<void> {
  // @ts-expect-error The tables must be filled before findings are moved.
  await updateGrouping({ tx, scope })
  // @ts-expect-error Only filled tables can be dropped.
  await deleteGrouped({ tx, scope })
}
