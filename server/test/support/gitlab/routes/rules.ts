import { ok } from '../../hosts/rest-request.ts'
import { type Gitlab, type GitlabRoutes, MAINTAINER, page, projectOf, requireRole, requireUltimate } from '../gitlab.ts'

const PROJECT = '/api/v4/projects/{id}'
const NO_ONE = 0

/**
 * The rules of branches, which GitLab has in several places. Protected branches are a Maintainer's
 * (https://docs.gitlab.com/api/protected_branches/), the others are of paid editions.
 */
export function ruleRoutes(gitlab: Gitlab): GitlabRoutes {
  return {
    [`GET ${PROJECT}/protected_branches`]: (request) => {
      requireRole(gitlab, MAINTAINER)
      const rules = [...projectOf(gitlab, request).rules]
      return page(
        request,
        rules.map(([name, rule]) => ({
          id: 1,
          name,
          push_access_levels: [{ id: 1, access_level: rule.approvals === undefined ? MAINTAINER : NO_ONE }],
          merge_access_levels: [{ id: 2, access_level: MAINTAINER }],
          allow_force_push: !rule.blocksForcePushes,
          code_owner_approval_required: rule.codeOwners ?? false,
        })),
      )
    },
    [`GET ${PROJECT}/approval_rules`]: (request) => {
      requireUltimate(gitlab)
      const rules = [...projectOf(gitlab, request).rules]
      return page(
        request,
        rules.map(([name, { approvals = 0 }]) => ({
          id: 1,
          name: 'Approval',
          rule_type: 'regular',
          approvals_required: approvals,
          applies_to_all_protected_branches: false,
          protected_branches: [{ id: 1, name }],
        })),
      )
    },
    [`GET ${PROJECT}/push_rule`]: (request) => {
      requireUltimate(gitlab)
      const rules = [...projectOf(gitlab, request).rules.values()]
      return ok({ id: 1, reject_unsigned_commits: rules.some(({ signatures }) => signatures) })
    },
    [`GET ${PROJECT}/external_status_checks`]: (request) => {
      requireUltimate(gitlab)
      const rules = [...projectOf(gitlab, request).rules]
      const checks = rules.flatMap(([branch, rule]) => (rule.checks ?? []).map((name) => ({ branch, name })))
      return page(
        request,
        checks.map(({ branch, name }, id) => ({
          id,
          name,
          external_url: 'https://checks.example.com',
          protected_branches: [{ id: 1, name: branch }],
        })),
      )
    },
  }
}
