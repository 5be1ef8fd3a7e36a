import { type Static, Type } from 'typebox'
import type { HostBranchRules } from '../../host-change.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { contextName } from './objects/check.parser.ts'

const Policy = Type.Object({
  isEnabled: Maybe(Type.Boolean()),
  isBlocking: Maybe(Type.Boolean()),
  isDeleted: Maybe(Type.Boolean()),
  type: Type.Object({ id: Text }),
  settings: Maybe(
    Type.Object({
      minimumApproverCount: Maybe(Id),
      buildDefinitionId: Maybe(Id),
      statusName: Maybe(Text),
      statusGenre: Maybe(Text),
    }),
  ),
})
export type BranchPolicy = Static<typeof Policy>

/** The types of policies have the same ids in every organization. */
const MINIMUM_REVIEWERS = 'fa4e907d-c16b-4a4c-9dfa-4906e5d171dd'
const BUILD = '0609b952-1397-4640-95ec-e00a01b2c241'
const STATUS = 'cbdc66da-9728-4af8-aada-9a5a32e4a226'

/** Null for a policy that blocks nothing. */
export function parsePolicy(value: unknown): BranchPolicy | null {
  const policy = readAs(Policy, value)
  return policy.isEnabled && policy.isBlocking && !policy.isDeleted ? policy : null
}

/** The pipelines that have to succeed. */
export function requiredPipelines(policies: BranchPolicy[]): number[] {
  return policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === BUILD ? (settings?.buildDefinitionId ?? []) : [],
  )
}

/**
 * What all policies of a branch require together. A branch with a policy that blocks takes changes
 * by pull requests only, and cannot be deleted. Permissions may forbid more, and are not read.
 */
export function branchRulesOf(policies: BranchPolicy[], pipelines: string[]): HostBranchRules {
  const approvals = policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === MINIMUM_REVIEWERS ? (settings?.minimumApproverCount ?? 1) : [],
  )
  const statuses = policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === STATUS && settings?.statusName
      ? contextName(settings.statusGenre, settings.statusName)
      : [],
  )
  return {
    requires_pull_request: true,
    required_approvals: Math.max(0, ...approvals),
    requires_code_owner_review: false,
    required_checks: [...new Set([...pipelines, ...statuses])].sort(),
    requires_signatures: false,
    blocks_force_pushes: true,
    blocks_deletion: true,
    requires_merge_queue: false,
    complete: false,
  }
}
