import { Type } from 'typebox'
import type { Tx } from '../../platform/db/sql.ts'
import { type Event, publish } from '../../platform/queue/event.ts'
import { markAnnounced, type ReportKey } from './artifact.store.ts'

/**
 * Published when a file that a scan or SBOM attestation names is uploaded, so that it can be read
 * into findings.
 */
export const artifactCompleted: Event<{ org_id: string; artifact_id: string }> = {
  name: 'ci.artifact.completed',
  payload: Type.Object({ org_id: Type.String(), artifact_id: Type.String() }),
}

/**
 * Publishes the event once for each uploaded artifact of a report that a scan or SBOM attestation
 * names.
 */
export async function announceNamedArtifacts(tx: Tx, report: ReportKey): Promise<void> {
  for (const artifact_id of await markAnnounced(tx, report)) {
    await publish(tx, artifactCompleted, { org_id: report.org_id, artifact_id })
  }
}
