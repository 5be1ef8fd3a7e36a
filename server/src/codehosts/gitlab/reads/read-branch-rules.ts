import { type HostReader, HostRefusal } from '../../code-host.ts'
import { projectPath, type Session } from '../client/session.ts'
import { parseBranchRules } from '../objects/branch-rules.parser.ts'

/** Protected branches can be read by maintainers only. */
export function readBranchRules(session: Session): HostReader['readBranchRules'] {
  const { api } = session
  return async (repository, branch) => {
    const project = projectPath(repository)
    const protectedBranches = await api.readList(`${project}/protected_branches`)
    if (protectedBranches === null) return null
    const settings = await session.settings(repository)
    const approvals = await optional(() => api.find(`${project}/approval_rules`, { per_page: 100 }))
    const pushRule = await optional(() => api.find(`${project}/push_rule`))
    const checks = await optional(() => api.find(`${project}/external_status_checks`, { per_page: 100 }))
    const found = {
      protectedBranches,
      approvalRules: listOrNull(approvals.value),
      pushRule: pushRule.value,
      statusChecks: listOrNull(checks.value),
      settings,
      complete: !approvals.isRefused && !pushRule.isRefused && !(settings.needs_status_checks && checks.isRefused),
    }
    return api.parseItem(found, () => parseBranchRules(branch, found))
  }
}

type Optional = { value: unknown; isRefused: boolean }

/** What an edition does not have is 404. What the token may not read is 403. */
async function optional(read: () => Promise<unknown>): Promise<Optional> {
  try {
    return { value: await read(), isRefused: false }
  } catch (error) {
    if (!(error instanceof HostRefusal) || ![401, 403, 404].includes(error.status)) throw error
    return { value: null, isRefused: error.status !== 404 }
  }
}

function listOrNull(value: unknown): unknown[] | null {
  return Array.isArray(value) ? value : null
}
