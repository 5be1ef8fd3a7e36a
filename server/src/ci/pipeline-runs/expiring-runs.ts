import { defineExpiringWithParts } from '../../platform/db/expiring-rows.ts'
import { deleteArtifactsOfRuns } from '../artifacts/artifact-removal.store.ts'
import { deleteProviderFacts } from '../provider-runs/expired-provider-run.store.ts'
import { deleteReports } from '../reports/expired-report.store.ts'
import { deleteAttempts, EXPIRED_RUNS } from '../runs/expired-run.store.ts'

/** Runs with their attempts, reports and artifacts. The files of the artifacts are abandoned. */
export const expiringRuns = defineExpiringWithParts(EXPIRED_RUNS, async (tx, orgId, ids) => {
  await deleteArtifactsOfRuns(tx, orgId, ids)
  await deleteReports(tx, orgId, ids)
  await deleteProviderFacts(tx, orgId, ids)
  await deleteAttempts(tx, orgId, ids)
})
