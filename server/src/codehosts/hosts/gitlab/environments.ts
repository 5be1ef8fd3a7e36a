import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostDeployment, HostGateRequest } from '../../host-deployment.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from './client.ts'
import { type Deployment, deploymentOf, findDeployment } from './deployments.ts'

/**
 * A deployment that waits for approvals, and one whose job a person has to start. The address is
 * where the answer is sent.
 */
export function listGateRequests(session: Session): HostReader['listGateRequests'] {
  return async ({ repository, id }) => {
    const found = await findDeployment(session, repository, id)
    const deployment = found && deploymentOf(found, repository)
    const question = found && questionOf(found, deployment as HostDeployment)
    if (!deployment || !question) return []
    return [{ ...question, callback_url: `${session.apiUrl}${question.callback_url}` }]
  }
}

function questionOf(found: Deployment, deployment: HostDeployment): HostGateRequest | null {
  const project = projectPath(deployment.repository)
  const { environment, run, ref, commit_sha } = deployment
  const shared = {
    ...{ repository: deployment.repository, environment, deployment, run, ref, commit_sha },
    callback_secret: null,
    requested_at: deployment.created_at,
  }
  if (found.status === 'blocked') {
    const path = `${project}${restPath`/deployments/${found.id}/approval`}`
    return { ...shared, callback_url: path, is_rule: true }
  }
  const job = found.deployable
  if (found.status !== 'created' || job?.status !== 'manual') return null
  return { ...shared, callback_url: `${project}${restPath`/jobs/${job.id}/play`}`, is_rule: false }
}

export const Environment = Type.Object({ name: Text })

/** Who may deploy, or has to approve: a user, a group, or everyone with a role. */
const Rule = Type.Object({
  user_id: Maybe(Id),
  group_id: Maybe(Id),
  access_level_description: Maybe(Text),
  required_approvals: Maybe(Id),
})

const ProtectedEnvironment = Type.Object({
  deploy_access_levels: Maybe(Type.Array(Rule)),
  required_approval_count: Maybe(Id),
  approval_rules: Maybe(Type.Array(Rule)),
})

export type ApprovalRules = {
  /** The ids of users who have to approve. */
  users: string[]
  /** Groups and roles that have to approve, by the names that GitLab shows. */
  groups: string[]
  requires_approval: boolean
}

/** Without rules of its own, everyone who may deploy can approve. */
export function parseApprovalRules(value: unknown): ApprovalRules {
  const found = readAs(ProtectedEnvironment, value)
  const own = (found.approval_rules ?? []).filter(({ required_approvals: count }) => count !== 0)
  const isShared = own.length === 0 && (found.required_approval_count ?? 0) > 0
  const rules = isShared ? (found.deploy_access_levels ?? []) : own
  return {
    users: [...new Set(rules.flatMap(({ user_id }) => (user_id ? String(user_id) : [])))],
    groups: [...new Set(rules.flatMap((rule) => (rule.user_id ? [] : nameOf(rule))))],
    requires_approval: rules.length > 0 || isShared,
  }
}

function nameOf({ access_level_description: name, group_id: id }: Static<typeof Rule>): string[] {
  const shown = textOrNull(name) ?? (id ? `group ${id}` : null)
  return shown === null ? [] : [shown]
}
