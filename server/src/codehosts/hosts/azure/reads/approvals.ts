import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { type Approval, parseApproval } from '../objects/approval.parser.ts'
import type { Checkpoint } from '../approvals.ts'

export type EnvironmentApproval = { approval: Approval; environment: number; attempt: number }

/**
 * The approvals that stages waited for. The id of a check that is an approval is that of the
 * approval.
 */
export async function approvalsOf(
  api: AzureApi,
  project: string,
  checkpoints: readonly Checkpoint[],
): Promise<EnvironmentApproval[]> {
  const asked = checkpoints.flatMap(({ checks, attempt }) =>
    checks.flatMap(({ id, environment, is_approval }) => (is_approval ? { id, environment, attempt } : [])),
  )
  if (asked.length === 0) return []
  const path = restPath`/${project}/_apis/pipelines/approvals`
  const query = { approvalIds: asked.map(({ id }) => id).join(','), $expand: 'steps' }
  const approvals = await api.readAll({ path, query }, parseApproval)
  return asked.flatMap(({ id, environment, attempt }) => {
    const approval = approvals.find((one) => one.id.toLowerCase() === id.toLowerCase())
    return approval ? { approval, environment, attempt } : []
  })
}
