import { type Static, Type } from 'typebox'
import type { HostBranchRules } from '../../host-change.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'

/** A rule of a ruleset. Rules without parameters have none. */
const Rule = Type.Object({ type: Text, parameters: Maybe(Type.Unknown()) })

const PullRequestParameters = Type.Object({
  required_approving_review_count: Maybe(Id),
  require_code_owner_review: Maybe(Type.Boolean()),
})

const StatusCheckParameters = Type.Object({
  required_status_checks: Maybe(Type.Array(Type.Object({ context: Text }))),
})

/**
 * What all rules of a branch require together: the strictest of each. Rules of other types are left
 * out. Throws an `Error` if a rule cannot be read, because the others would seem to be all.
 */
export function parseBranchRules(values: readonly unknown[]): HostBranchRules {
  const rules = values.map((value) => readAs(Rule, value))
  const has = (type: string) => rules.some((rule) => rule.type === type)
  const pullRequests = parametersOf(rules, 'pull_request', PullRequestParameters)
  const checks = parametersOf(rules, 'required_status_checks', StatusCheckParameters)
  const contexts = checks.flatMap(({ required_status_checks: required }) => required ?? [])
  return {
    requires_pull_request: has('pull_request'),
    required_approvals: Math.max(0, ...pullRequests.map((rule) => rule.required_approving_review_count ?? 0)),
    requires_code_owner_review: pullRequests.some((rule) => rule.require_code_owner_review),
    required_checks: [...new Set(contexts.map(({ context }) => context))].sort(),
    requires_signatures: has('required_signatures'),
    blocks_force_pushes: has('non_fast_forward'),
    blocks_deletion: has('deletion'),
    requires_merge_queue: has('merge_queue'),
    complete: false,
  }
}

function parametersOf<Schema extends typeof PullRequestParameters | typeof StatusCheckParameters>(
  rules: readonly Static<typeof Rule>[],
  type: string,
  schema: Schema,
): Static<Schema>[] {
  return rules.filter((rule) => rule.type === type).map(({ parameters }) => readAs(schema, parameters ?? {}))
}
