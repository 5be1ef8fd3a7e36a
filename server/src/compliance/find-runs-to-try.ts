import { listRecentRuns, type RecentRun } from '../ci/evidence/recent-runs.store.ts'
import { parseBranchName } from '../repositories/branch-name.ts'
import type { Services } from '../services.ts'
import { type DryRunSubject, EXAMINED_MAX } from './dry-run-policy.ts'
import { createPlainEnvironment } from './input/policy-input.schema.ts'
import { readPolicyInput } from './input/read-policy-input.ts'
import type { PolicyDefinition } from './policies/policy.schema.ts'
import { isDeploymentCovered } from './policies/policy-binding.ts'

/** Which runs or deployments to try a policy on. `repository` is `owner/name`. */
export type TrialFilter = { since: Date; last: number; repository: string | null; environment: string | null }

/** A run as a dry run shows it. */
export type TriedRun = Omit<RecentRun, 'ref'> & { branch: string | null }

/**
 * The last runs that a policy covers. With an environment, each run is tried as if it were deployed
 * there. A policy without bindings is tried on every run, because any gate can name it.
 */
export async function findRunsToTry(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  definition: PolicyDefinition,
  { last, ...filter }: TrialFilter,
): Promise<DryRunSubject<{ run: TriedRun }>[]> {
  const now = clock.now()
  const { environment } = filter
  const runs = await listRecentRuns(sql, orgId, { ...filter, limit: EXAMINED_MAX }, now)
  const tried = runs.map(({ ref, ...run }) => ({ ...run, branch: parseBranchName(ref) }))
  return tried
    .filter((run) => definition.bindings === null || isDeploymentCovered(definition, { ...run, ...named(environment) }))
    .slice(0, last)
    .map((run) => ({
      shown: { run },
      readInput: () => readPolicyInput(sql, { org_id: orgId, ...toSubject(run, environment) }, clock.now()),
    }))
}

function named(environment: string | null): { environment?: string } {
  return environment === null ? {} : { environment }
}

function toSubject(run: TriedRun, environment: string | null) {
  const { id, attempt, repository, branch, commit_sha } = run
  const subject = { repository, branch, run: { id, attempt } }
  if (environment === null) return { ...subject, deployment: null, environment: null }
  const deployment = { id: 'dry-run', branch, commit_sha, attempt }
  return { ...subject, deployment, environment: createPlainEnvironment(environment) }
}
