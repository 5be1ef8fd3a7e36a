import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostBranchRules } from '../../host-change.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { formatContextName } from './checks.ts'
import type { AzureApi } from './client.ts'

export function createBranchRuleReads(api: AzureApi): Pick<HostReader, 'readBranchRules' | 'readCodeOwners'> {
  return {
    /** Without a policy, permissions can still protect the branch. They are not read. */
    async readBranchRules(repository, branch) {
      const project = await api.fetchProject(repository)
      const path = project && encodePath`/${project}/_apis/git/policy/configurations`
      const query = { repositoryId: repository.id, refName: `refs/heads/${branch}` }
      const list = path && (await api.fetchList({ path, query }))
      const policies = list ? api.parseItems(list.values, parsePolicy) : []
      if (!project || policies.length === 0) return null
      const names = collectRequiredPipelines(policies).map((id) => fetchPipelineName(api, project, id))
      return parseBranchRules(policies, await Promise.all(names))
    },

    /** Azure DevOps has no file of owners. */
    readCodeOwners: async () => null,
  }
}

const Definition = Type.Object({ name: Maybe(Text) })

/** The number stands for a pipeline that may not be read. */
async function fetchPipelineName(api: AzureApi, project: string, id: number): Promise<string> {
  const definition = await api.fetch({ path: encodePath`/${project}/_apis/build/definitions/${id}` })
  return (definition === null ? null : parseText(readAs(Definition, definition).name)) ?? String(id)
}

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
type BranchPolicy = Static<typeof Policy>

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
export function collectRequiredPipelines(policies: BranchPolicy[]): number[] {
  return policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === BUILD ? (settings?.buildDefinitionId ?? []) : [],
  )
}

/**
 * What all policies of a branch require together. A branch with a policy that blocks takes changes
 * by pull requests only, and cannot be deleted. Permissions may forbid more, and are not read.
 */
export function parseBranchRules(policies: BranchPolicy[], pipelines: string[]): HostBranchRules {
  const approvals = policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === MINIMUM_REVIEWERS ? (settings?.minimumApproverCount ?? 1) : [],
  )
  const statuses = policies.flatMap(({ type, settings }) =>
    type.id.toLowerCase() === STATUS && settings?.statusName
      ? formatContextName(settings.statusGenre, settings.statusName)
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
