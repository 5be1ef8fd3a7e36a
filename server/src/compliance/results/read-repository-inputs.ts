import { findNewestRuns, type RunName } from '../../ci/evidence/newest-runs.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { parseBranchName } from '../../repositories/branch-name.ts'
import { findRepositoryAt } from '../../repositories/repository-lookup.store.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import { readPolicyInput } from '../input/read-policy-input.ts'
import type { PolicyBindings } from '../policies/policy.schema.ts'
import { isBranchCovered } from '../policies/policy-binding.ts'

/** The branches that a policy covers; null for all. */
type Branches = Pick<PolicyBindings, 'branches'>

/** Returns the input for policies that cover these branches. One run gives one shared input. */
export type RepositoryInputs = (branches: Branches) => Promise<PolicyInput>

/** Reads the inputs for the compliance results of a repository. */
export async function readRepositoryInputs(
  db: Db,
  orgId: string,
  repository: string,
  now: Date,
): Promise<RepositoryInputs> {
  const runs = await findNewestRuns(db, orgId, repository, now)
  const { linked } = await findRepositoryAt(db, orgId, repository)
  const trackedBranch = linked?.tracked_branch ?? null
  const inputs = new Map<string, Promise<PolicyInput>>()
  return (bindings) => {
    const run = selectRun(runs, bindings, trackedBranch)
    const known = inputs.get(run?.id ?? '')
    if (known) return known
    const branch = run === null ? trackedBranch : parseBranchName(run.ref)
    const subject = { org_id: orgId, repository, branch, run, deployment: null, environment: null }
    const input = readPolicyInput(db, subject, now)
    inputs.set(run?.id ?? '', input)
    return input
  }
}

/**
 * Chooses the run that represents a repository: the newest run of a branch in the bindings. Without
 * branches in the bindings, it is the newest run of the tracked branch, or of any branch if none is
 * tracked.
 */
export function selectRun(runs: RunName[], bindings: Branches, trackedBranch: string | null): RunName | null {
  const fits = (run: RunName) => {
    const branch = parseBranchName(run.ref)
    if (bindings.branches !== null) return isBranchCovered(bindings, branch)
    return trackedBranch === null || branch === parseBranchName(trackedBranch)
  }
  return runs.find(fits) ?? null
}
