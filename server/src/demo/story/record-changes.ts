import type { HostRepository } from '../../codehosts/host-repository.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { recordChangesJob } from '../../provenance/landings/landings.job.ts'
import type { Demo } from '../world/demo.ts'

/** Records the changes of a repository that are due. */
export async function recordChanges(demo: Demo, repository: HostRepository): Promise<void> {
  const { org_id, provider } = demo.source
  await enqueue(demo.services.sql, recordChangesJob, { org_id, provider, repository_id: repository.id })
  await demo.settle()
}
