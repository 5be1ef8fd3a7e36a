import { Type } from 'typebox'
import type { Event } from '../../platform/queue/event.ts'

type ReportChanged = { org_id: string; run_id: string }

/** Published when a job's results are stored or change: a report, its attestations, or files of it. */
export const reportChanged: Event<ReportChanged> = {
  name: 'ci.report.changed',
  payload: Type.Object({ org_id: Type.String(), run_id: Type.String() }),
  // Reports of one run are stored one after the other, so nobody waits for this who did not wait before.
  once: ({ org_id, run_id }) => `${org_id} ${run_id}`,
}
