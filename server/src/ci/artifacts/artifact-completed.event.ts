import { Type } from 'typebox'
import type { Event } from '../../platform/queue/event.ts'

/**
 * Published for every artifact that a scan or SBOM attestation names, once its file is there. Whoever can read such
 * files subscribes in jobs.ts.
 */
export const artifactCompleted: Event<{ org_id: string; artifact_id: string }> = {
  name: 'ci.artifact.completed',
  payload: Type.Object({ org_id: Type.String(), artifact_id: Type.String() }),
}
