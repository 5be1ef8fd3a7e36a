import type { TrustClass } from '../ci/runs/trust.ts'
import { matchEnvironment } from '../repositories/repository-identity.ts'

/** What of a deployment says where it runs. */
export type LiveFacts = {
  /** Whether its code host reports it. Otherwise a gate was opened for it. */
  is_of_host: boolean
  provider: string | null
  repository_id: string | null
  /** `host/owner/name`, or `owner/name` if the host is unknown. */
  address: string
  environment: string
  workflow_path: string | null
  /** The job that opened its gate. */
  job_id: string | null
  /** The repository of an opened gate's run, if a connected code host has it. */
  linked: { provider: string; id: string } | null
  lane: TrustClass
  live_at: Date | null
  live_unit: string | null
  live_lane: TrustClass | null
}

/**
 * A unit, and who speaks of it. What others say stands beside it and ends nothing there (trust §1).
 * A unit is a text that is equal for equal units, and has no meaning beyond that.
 */
export type LivePlace = { unit: string; lane: TrustClass }

/**
 * The unit that a deployment runs in (decisions §11): provider, repository, environment and slot.
 * The slot is the workflow file, or the job that opened the gate. A repository is known by its id,
 * which it keeps when it is renamed, else by its address. Environments are compared as hosts do.
 */
export function formatLiveUnit(facts: LiveFacts): string {
  const { is_of_host, provider, repository_id, address, environment } = facts
  const linked = is_of_host ? { provider: provider ?? '', id: repository_id ?? '' } : facts.linked
  const repository = linked === null ? ['', address.toLowerCase()] : [linked.provider, linked.id]
  const slot = is_of_host ? ['workflow', facts.workflow_path ?? ''] : ['job', facts.job_id ?? '']
  const isCaseless = matchEnvironment(['A'], { environment: 'a', repository: address, provider: linked?.provider })
  return JSON.stringify([...repository, isCaseless ? environment.toLowerCase() : environment, ...slot])
}
