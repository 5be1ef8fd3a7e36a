import { findNewestRuns, type RunName } from '../../ci/evidence/newest-runs.store.ts'
import { isRunOfStrangers } from '../../ci/runs/trust.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findRepositoryAt } from '../../repositories/repository.store.ts'
import { parseBranchName, splitAddress } from '../../repositories/repository-identity.ts'
import { type AdmittingTerms, isAdmitted } from '../policies/evidence-view.ts'
import type { PolicyBindings } from '../policies/policy.schema.ts'
import { isBranchCovered } from '../policies/policy-binding.ts'
import { type PolicyInputs, readPolicyInputs } from '../policies/read-policy-input.ts'

/** The branches that a policy covers; null for all. */
type Branches = Pick<PolicyBindings, 'branches'>

/**
 * Returns the inputs for rules with these terms of policies that cover these branches. One run
 * gives shared inputs.
 */
export type RepositoryInputs = (branches: Branches, terms: AdmittingTerms) => PolicyInputs

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
  const inputs = new Map<string, PolicyInputs>()
  return (bindings, terms) => {
    const run = selectRun(runs, bindings, trackedBranch, terms)
    const known = inputs.get(run?.id ?? '')
    if (known) return known
    const branch = run === null ? trackedBranch : parseBranchName(run.ref)
    const subject = { org_id: orgId, repository, branch, run, deployment: null, environment: null }
    const read = readPolicyInputs(db, subject, now)
    inputs.set(run?.id ?? '', read)
    return read
  }
}

/**
 * Chooses the run that represents a repository: the newest run of a branch in the bindings. Without
 * branches in the bindings, it is the newest run of the tracked branch, or of any branch if none is
 * tracked. Runs that the rule does not admit represent it only if there are no others.
 */
export function selectRun(
  runs: RunName[],
  bindings: Branches,
  trackedBranch: string | null,
  terms: AdmittingTerms,
): RunName | null {
  const fits = (run: RunName) => {
    const branch = parseBranchName(run.ref)
    if (bindings.branches !== null) return isBranchCovered(bindings, branch)
    return trackedBranch === null || branch === parseBranchName(trackedBranch)
  }
  const admits = (run: RunName) => isAdmitted(terms, run.trust, isRunOfStrangers(run, trackedBranch))
  return runs.find((run) => admits(run) && fits(run)) ?? runs.find(fits) ?? null
}

/** The names under which an organization's repositories are known, by source. */
type RepositoryNames = {
  /** `host/owner/name` from runs. */
  runs: string[]
  linked: { host: string; full_name: string }[]
  /** `owner/name` from security reports. */
  reported: string[]
}

/**
 * Lists each repository once: as `host/owner/name` if its host is known, otherwise as `owner/name`.
 * Names that differ only in case are one repository, because code hosts ignore case. The spelling
 * of runs takes precedence.
 */
export function mergeRepositoryNames({ runs, linked, reported }: RepositoryNames): string[] {
  const addresses = new Map<string, string>()
  for (const address of [...runs, ...linked.map(({ host, full_name }) => `${host}/${full_name}`)]) {
    const key = address.toLowerCase()
    if (!addresses.has(key)) addresses.set(key, address)
  }
  const names = new Set([...addresses.keys()].map((address) => splitAddress(address).name))
  const unhosted = reported.filter((name) => !names.has(name.toLowerCase()))
  return [...addresses.values(), ...unhosted]
}

/** Whether a report with this repository name is about the repository. */
export function isNamed(repository: string, name: string): boolean {
  const known = repository.toLowerCase()
  return known === name.toLowerCase() || splitAddress(known).name === name.toLowerCase()
}

/** Returns `owner/name` of `host/owner/name`, or null if the repository's host is not known. */
export function getHostlessName(repository: string): string | null {
  const { name } = splitAddress(repository)
  return name.includes('/') ? name : null
}
