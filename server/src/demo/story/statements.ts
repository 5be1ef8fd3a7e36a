import { listNewestInProduction } from '../../deployments/newest-deployment.store.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import { listNewestChanges } from '../../provenance/changes/newest-change.store.ts'
import { issueChangeStatement } from '../../provenance/statements/change-statement.ts'
import { issueLineageStatement } from '../../provenance/statements/lineage-statement.ts'
import { issueVerificationStatement } from '../../provenance/statements/verification-statement.ts'
import type { Demo } from '../world/demo.ts'

/** Somebody has asked for the statements of the newest changes and deployments. */
export async function sign(demo: Demo): Promise<void> {
  const { services, source } = demo
  const actor = demo.person('cdubois')
  const { org_id } = source
  for (const id of await listNewestChanges(services.sql, org_id, 40))
    await ifAvailable(issueChangeStatement(services, actor, id))
  for (const id of await listNewestInProduction(services.sql, org_id, 12)) {
    await ifAvailable(issueLineageStatement(services, actor, id))
    await ifAvailable(issueVerificationStatement(services, actor, id))
  }
}

/** A deployment whose path is not complete has no statement. */
async function ifAvailable(statement: Promise<unknown>): Promise<void> {
  await statement.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
}
