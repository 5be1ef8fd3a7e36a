import { branchName } from '../repositories/branch-name.ts'
import type { RunName } from '../ci/evidence/newest-runs.store.ts'
import type { PolicyBindings } from './policy.schema.ts'
import { coversBranch } from './policy-binding.ts'

/**
 * The run that a repository is judged by: the newest of a branch that the policy is bound to; where it names none, of the
 * tracked branch; where nobody knows that, of any.
 */
export function chooseRun(runs: RunName[], bindings: PolicyBindings, trackedBranch: string | null): RunName | null {
  const fits = (run: RunName) => {
    const branch = branchName(run.ref)
    if (bindings.branches !== null) return coversBranch(bindings, branch)
    return trackedBranch === null || branch === branchName(trackedBranch)
  }
  return runs.find(fits) ?? null
}
