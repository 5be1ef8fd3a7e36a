import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { type ReportKey, updateAnnounced } from '../artifacts/artifact.store.ts'
import { lockRunFor } from '../runs/lock-run.ts'
import type { TrustClass } from '../runs/trust.ts'
import { artifactCompleted, ownershipCompleted, reportChanged } from './report.events.ts'
import { lockReport } from './report.store.ts'

/**
 * Runs `change` in a transaction that first locks the run, then the report. `trust` is the class of
 * what the actor states about the run. Throws 404 when either does not exist.
 */
export async function withLockedReport<Result>(
  { sql, clock }: Services,
  actor: Actor,
  report: ReportKey,
  change: (tx: Tx, trust: TrustClass) => Promise<Result>,
): Promise<Result> {
  return (await sql.begin(async (tx) => {
    const run = await lockRunFor(tx, actor, report.run_id, clock.now())
    if (run === null) throw createNotFoundError('run')
    if ((await lockReport(tx, report)) === null) throw createNotFoundError('report of the run')
    return change(tx, run.stated)
  })) as Result
}

/**
 * Publishes that a report has changed, and which of its named artifacts are uploaded and can be
 * read.
 */
export async function publishChange(tx: Tx, report: ReportKey): Promise<void> {
  const { org_id, run_id } = report
  for (const { id: artifact_id, kinds } of await updateAnnounced(tx, report)) {
    if (kinds.some((kind) => kind !== 'ownership')) await publish(tx, artifactCompleted, { org_id, artifact_id })
    if (kinds.includes('ownership')) await publish(tx, ownershipCompleted, { org_id, artifact_id })
  }
  await publish(tx, reportChanged, { org_id, run_id })
}
