import type { Actor } from '../../access/actor.ts'
import { invalidField } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { countArtifacts } from '../artifacts/artifact.store.ts'
import { refuseBadPaths, signSlots } from '../artifacts/artifact-slots.ts'
import { reserveArtifacts } from '../artifacts/reserve-artifacts.ts'
import { lockRunAndReport } from './lock-report.ts'
import type { ArtifactItem } from './report.schema.ts'

/** Artifacts that one report may gather over all calls. */
const ARTIFACTS_PER_REPORT_MAX = 1000

/** Opens slots for more files of a report; a path that is there already is replaced unless the file is the same. */
export async function addArtifacts(
  services: Services,
  actor: Actor,
  runId: string,
  reportId: string,
  items: ArtifactItem[],
) {
  const now = services.clock.now()
  refuseBadPaths(items)
  const { slots, skipped } = await services.sql.begin(async (tx) => {
    await lockRunAndReport(tx, actor.org_id, runId, reportId)
    const reserved = await reserveArtifacts(tx, actor, { id: reportId, runId }, items, now)
    if ((await countArtifacts(tx, actor.org_id, reportId)) > ARTIFACTS_PER_REPORT_MAX) {
      throw invalidField('/body/artifacts', `would give the report more than ${ARTIFACTS_PER_REPORT_MAX}`)
    }
    return reserved
  })
  return { report_id: reportId, uploads: await signSlots(services, actor, slots, now), skipped, warnings: [] }
}
