import { Type } from 'typebox'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'

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

type ApprovalRules = {
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
  const groups = rules.flatMap(({ user_id, group_id: id, access_level_description: name }) =>
    user_id ? [] : (parseText(name) ?? (id ? `group ${id}` : [])),
  )
  return {
    users: [...new Set(rules.flatMap(({ user_id }) => (user_id ? String(user_id) : [])))],
    groups: [...new Set(groups)],
    requires_approval: rules.length > 0 || isShared,
  }
}
