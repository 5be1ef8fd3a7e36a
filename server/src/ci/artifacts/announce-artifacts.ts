import type { Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import { takeNamedArtifacts } from './artifact.store.ts'
import { artifactCompleted } from './artifact-completed.event.ts'

/** Announces the files of a report that are there and that a scan or SBOM attestation names, each once. */
export async function announceNamedArtifacts(tx: Tx, orgId: string, reportId: string): Promise<void> {
  for (const artifactId of await takeNamedArtifacts(tx, orgId, reportId)) {
    await publish(tx, artifactCompleted, { org_id: orgId, artifact_id: artifactId })
  }
}
