import { branchName } from '../repositories/branch-name.ts'
import { findNewestRuns } from '../ci/evidence/newest-runs.store.ts'
import type { Db } from '../platform/db/sql.ts'
import { locateRepository } from '../repositories/locate-repository.ts'
import { chooseRun } from './choose-run.ts'
import type { PolicyBindings } from './policy.schema.ts'
import type { PolicyInput } from './policy-input.schema.ts'
import { readPolicyInput } from './read-policy-input.ts'

/** The input of policies with these bindings. Those that look at the same run share one. */
export type RepositoryInputs = (bindings: PolicyBindings) => Promise<PolicyInput>

/** What policies decide by where nothing is deployed: how a repository stands. */
export async function repositoryInputs(
  db: Db,
  orgId: string,
  repository: string,
  now: Date,
): Promise<RepositoryInputs> {
  const runs = await findNewestRuns(db, orgId, repository, now)
  const { linked } = await locateRepository(db, orgId, repository)
  const trackedBranch = linked?.tracked_branch ?? null
  const inputs = new Map<string, Promise<PolicyInput>>()
  return (bindings) => {
    const run = chooseRun(runs, bindings, trackedBranch)
    const known = inputs.get(run?.id ?? '')
    if (known) return known
    const branch = run === null ? trackedBranch : branchName(run.ref)
    const subject = { org_id: orgId, repository, branch, run, deployment: null, environment: null }
    const input = readPolicyInput(db, subject, now)
    inputs.set(run?.id ?? '', input)
    return input
  }
}
