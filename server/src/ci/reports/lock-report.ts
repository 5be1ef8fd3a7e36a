import type { Tx } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { lockRunById } from '../runs/run.store.ts'
import { lockReport } from './report.store.ts'

/** Locks a run and one of its reports, always in this order. Throws 404 when one of them is not there. */
export async function lockRunAndReport(tx: Tx, orgId: string, runId: string, reportId: string): Promise<void> {
  if ((await lockRunById(tx, orgId, runId)) === null) throw notFound('run')
  if ((await lockReport(tx, orgId, runId, reportId)) === null) throw notFound('report of the run')
}
