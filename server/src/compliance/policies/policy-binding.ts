import { matchAnyGlob } from '../../platform/glob.ts'
import { matchAnyRepository, matchEnvironment } from '../../repositories/repository-identity.ts'
import type { PolicyBindings, PolicyDefinition } from './policy.schema.ts'

/** Bindings that match every deployment. */
export const EVERYTHING: PolicyBindings = { environments: null, repositories: null, branches: null }

type Definition = Pick<PolicyDefinition, 'bindings'>
type Target = {
  /** Absent for a run, which may be deployed to any environment. */
  environment?: string
  repository: string
  /** The code host, where it is known. */
  provider?: string | null | undefined
  branch: string | null
  /** Absent if it is not known yet; it may be any workflow then. */
  workflow?: WorkflowName
}

export type WorkflowName = { name: string | null; path: string | null }

/**
 * Whether a policy's bindings cover a deployment. A stored definition that cannot be read is null
 * and counts as covering everything, because its bindings are unknown.
 */
export function isDeploymentCovered(definition: Definition | null, target: Target): boolean {
  return definition === null || getAlternatives(definition).some((bindings) => coversTarget(bindings, target))
}

function coversTarget(bindings: PolicyBindings, target: Target): boolean {
  const { environment, repository, branch, workflow } = target
  const { environments, workflows } = bindings
  return (
    namesRepository(bindings, repository) &&
    (environments === null ||
      environment === undefined ||
      matchEnvironment(environments, { ...target, environment })) &&
    isBranchCovered(bindings, branch) &&
    (workflows === undefined ||
      workflow === undefined ||
      getNames(workflow).some((name) => matchAnyGlob(workflows, name)))
  )
}

/**
 * The names by which bindings can refer to a workflow: its name, the path of its file, the file.
 */
function getNames({ name, path }: WorkflowName): string[] {
  return [name, path, path?.split('/').at(-1)].filter((known) => known !== null && known !== undefined)
}

/** Whether a policy's bindings cover a repository. A policy without bindings covers none. */
export function isRepositoryCovered(definition: Definition | null, repository: string): boolean {
  return definition === null || getAlternatives(definition).some((bindings) => namesRepository(bindings, repository))
}

/** The branches that a policy covers in any of its bindings; null for every branch and tag. */
export function getCoveredBranches(definition: Definition): string[] | null {
  const lists = getAlternatives(definition).map(({ branches }) => branches)
  return lists.includes(null) ? null : lists.flatMap((branches) => branches ?? [])
}

/** A policy with several bindings covers what any of them covers. */
function getAlternatives({ bindings }: Definition): PolicyBindings[] {
  if (bindings === null) return []
  return Array.isArray(bindings) ? bindings : [bindings]
}

function namesRepository({ repositories }: PolicyBindings, repository: string): boolean {
  return !repositories || matchAnyRepository(repositories, repository)
}

/** Whether bindings cover a branch. Null means a tag, which only `*` matches. */
export function isBranchCovered({ branches }: Pick<PolicyBindings, 'branches'>, branch: string | null): boolean {
  return branches === null || matchAnyGlob(branches, branch ?? '')
}
