import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostBranchRules } from '../../host-change.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import type { BitbucketApi } from './client.ts'

export function createBranchRuleReads(api: BitbucketApi): Pick<HostReader, 'readBranchRules' | 'readCodeOwners'> {
  return {
    /** Restrictions are read by administrators only. */
    async readBranchRules(repository, branch) {
      const found = await api.fetchList({ path: api.repositoryPath(repository, '/branch-restrictions') })
      if (found === null) return null
      const model = await api.fetch(api.repositoryPath(repository, '/effective-branching-model'))
      return api.parseItem(found.values, () => parseBranchRestrictions(found.values, branch, model))
    },

    /** Default reviewers are asked for every pull request; they do not own paths. */
    readCodeOwners: async () => null,
  }
}

const Restriction = Type.Object({
  kind: Text,
  branch_match_kind: Maybe(Text),
  branch_type: Maybe(Text),
  pattern: Maybe(Text),
  value: Maybe(Id),
  users: Maybe(Type.Array(Type.Unknown())),
  groups: Maybe(Type.Array(Type.Unknown())),
})
type Restriction = Static<typeof Restriction>

const APPROVALS = ['require_approvals_to_merge', 'require_default_reviewer_approvals_to_merge']

/**
 * What the restrictions of a branch require together; null if none applies to it. `model` is null
 * if it may not be read. Merge checks only count where Bitbucket enforces them: else it shows them
 * to whoever merges. The restrictions of the project are not in this list, so it is never complete.
 */
function parseBranchRestrictions(values: readonly unknown[], branch: string, model: unknown): HostBranchRules | null {
  const restrictions = values.map((value) => readAs(Restriction, value))
  const rules = restrictions.filter((rule) => isForBranch(rule, branch, model))
  if (rules.length === 0) return null
  const has = (kind: string) => rules.some((rule) => rule.kind === kind)
  const isEnforced = has('enforce_merge_checks')
  const pushRules = rules.filter(({ kind }) => kind === 'push')
  const approvals = rules.filter(({ kind }) => APPROVALS.includes(kind)).map(({ value }) => value ?? 0)
  return {
    // Somebody who may push needs no pull request.
    requires_pull_request: pushRules.some(({ users, groups }) => !users?.length && !groups?.length),
    required_approvals: isEnforced ? Math.max(0, ...approvals) : 0,
    requires_code_owner_review: false,
    // Bitbucket requires a number of passed builds, whatever their names.
    required_checks: [],
    requires_signatures: false,
    blocks_force_pushes: has('force'),
    blocks_deletion: has('delete'),
    requires_merge_queue: false,
    complete: false,
  }
}

const ModelBranch = Maybe(Type.Object({ branch: Maybe(Type.Object({ name: Maybe(Text) })) }))

/** Which branches have which role in the repository. */
const BranchingModel = Type.Object({
  development: ModelBranch,
  production: ModelBranch,
  branch_types: Maybe(Type.Array(Type.Object({ kind: Maybe(Text), prefix: Maybe(Text) }))),
})

function isForBranch(
  { branch_match_kind, branch_type, pattern }: Restriction,
  branch: string,
  model: unknown,
): boolean {
  if (branch_match_kind !== 'branching_model') return matchGlob(pattern ?? '', branch)
  if (model === null) return false
  const { development, production, branch_types } = readAs(BranchingModel, model)
  if (branch_type === 'development') return development?.branch?.name === branch
  if (branch_type === 'production') return production?.branch?.name === branch
  const prefixes = (branch_types ?? []).filter(({ kind }) => kind === branch_type).map(({ prefix }) => prefix)
  return prefixes.some((prefix) => prefix && branch.startsWith(prefix))
}

/** In Bitbucket's patterns `*` also spans slashes. */
function matchGlob(pattern: string, branch: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return branch === first
  let end = branch.startsWith(first) ? first.length : -1
  for (const part of others) {
    const start = end < 0 ? -1 : branch.indexOf(part, end)
    end = start < 0 ? -1 : start + part.length
  }
  return end >= 0 && branch.length - last.length >= end && branch.endsWith(last)
}
