import { type Static, Type } from 'typebox'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import type { HostBranchRules } from '../../host-change.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { formatProjectPath, type ProjectSettings, type Session } from './client.ts'
import { parseFileText } from './repositories.ts'

/** Protected branches can be read by maintainers only. */
export function readBranchRules(session: Session): HostReader['readBranchRules'] {
  const { api } = session
  return async (repository, branch) => {
    const project = formatProjectPath(repository)
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

/** GitLab uses the first file that exists. */
const PATHS = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']

/**
 * The file, if all of it means the same at GitHub, whose syntax is the one that is read. Null for a
 * file with sections, roles, exclusions, or paths that are relative at GitLab only.
 */
export function readCodeOwners({ api }: Session): HostReader['readCodeOwners'] {
  return async (repository, commitSha) => {
    for (const path of PATHS) {
      const file = encodePath`/repository/files/${path}`
      const found = await api.read(`${formatProjectPath(repository)}${file}`, { ref: commitSha })
      const text = found && api.parseItem(found, parseFileText)
      if (text === null) continue
      return hasOneMeaning(text) ? { path, text } : null
    }
    return null
  }
}

export function hasOneMeaning(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return rules.every((line) => {
    const [pattern = '', ...owners] = line.split(/(?<!\\)\s+/)
    const isSection = /^\^?\[/.test(line)
    const isRelative = /^[^/*].*\/./.test(pattern)
    return !isSection && !isRelative && !pattern.startsWith('!') && !owners.some((owner) => owner.startsWith('@@'))
  })
}

const AccessLevel = Type.Object({ access_level: Maybe(Id) })

const ProtectedBranch = Type.Object({
  name: Text,
  push_access_levels: Maybe(Type.Array(AccessLevel)),
  allow_force_push: Maybe(Type.Boolean()),
  code_owner_approval_required: Maybe(Type.Boolean()),
})
type ProtectedBranch = Static<typeof ProtectedBranch>

const ApprovalRule = Type.Object({
  approvals_required: Maybe(Id),
  applies_to_all_protected_branches: Maybe(Type.Boolean()),
  protected_branches: Maybe(Type.Array(Type.Object({ name: Text }))),
})

const PushRule = Type.Object({ reject_unsigned_commits: Maybe(Type.Boolean()) })
const StatusCheck = Type.Object({ name: Text, protected_branches: Maybe(Type.Array(Type.Object({ name: Text }))) })

/** What was read of the rules. Null: the edition does not have it. */
export type FoundRules = {
  protectedBranches: unknown[]
  approvalRules: unknown[] | null
  pushRule: unknown
  statusChecks: unknown[] | null
  settings: ProjectSettings
  /** Whether everything could be read that the edition has. */
  complete: boolean
}

/**
 * What all rules of a branch require together. Throws an `Error` if a rule cannot be read, because
 * the others would seem to be all.
 */
export function parseBranchRules(branch: string, found: FoundRules): HostBranchRules {
  const covering = found.protectedBranches
    .map((value) => readAs(ProtectedBranch, value))
    .filter(({ name }) => matches(name, branch))
  const isProtected = covering.length > 0
  const applies = (rule: { protected_branches?: { name: string }[] | null }) =>
    !rule.protected_branches?.length || rule.protected_branches.some(({ name }) => matches(name, branch))
  return {
    requires_pull_request: isProtected && covering.every(nobodyPushes),
    required_approvals: approvalsFor(found.approvalRules ?? [], isProtected, applies),
    requires_code_owner_review: covering.some((rule) => rule.code_owner_approval_required),
    required_checks: found.settings.needs_status_checks ? checksFor(found.statusChecks ?? [], applies) : [],
    requires_signatures: found.pushRule !== null && (readAs(PushRule, found.pushRule).reject_unsigned_commits ?? false),
    blocks_force_pushes: isProtected && !covering.some((rule) => rule.allow_force_push),
    blocks_deletion: isProtected,
    requires_merge_queue: found.settings.merge_trains,
    // That the pipeline has to succeed is a rule without the names of its checks.
    complete: found.complete && !found.settings.needs_pipeline,
  }
}

/** Several rules of one branch permit what one of them permits. */
function nobodyPushes({ push_access_levels: levels }: ProtectedBranch): boolean {
  return (levels ?? []).every(({ access_level }) => access_level === 0)
}

type Applies = (rule: { protected_branches?: { name: string }[] | null }) => boolean

function approvalsFor(values: unknown[], isProtected: boolean, applies: Applies): number {
  const rules = values.map((value) => readAs(ApprovalRule, value))
  const own = rules.filter((rule) => (rule.applies_to_all_protected_branches ? isProtected : applies(rule)))
  return Math.max(0, ...own.map(({ approvals_required: count }) => count ?? 0))
}

function checksFor(values: unknown[], applies: Applies): string[] {
  const checks = values.map((value) => readAs(StatusCheck, value)).filter(applies)
  return [...new Set(checks.map(({ name }) => name))].sort()
}

/** `*` in the name of a protected branch stands for any characters. */
function matches(pattern: string, branch: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return pattern === branch
  const last = rest.pop() as string
  if (!branch.startsWith(first) || !branch.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = branch.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= branch.length - last.length
}
