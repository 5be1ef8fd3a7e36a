import { isUser, type OwnerRule } from '../../repositories/code-owners.parser.ts'
import type { RecordOwners, RecordReview } from './change-record.ts'
import { createPatternTree, type MatchBudget, matchPath } from './owner-patterns.ts'

/** About two seconds. */
const COMPARISONS_MAX = 500_000_000

/**
 * The owners of the changed files and whether they approved, by rule, in the order of the file. For
 * each file, the last rule that matches it counts. `approvals` are those by others than the author
 * of the pull request, because code hosts do not accept the author's. A stale approval counts: a
 * code host that must not accept it dismisses it. Returns null if the patterns need too many
 * comparisons.
 */
export function computeOwners(
  rules: readonly OwnerRule[],
  changedPaths: readonly string[],
  approvals: readonly Pick<RecordReview, 'reviewer'>[],
): RecordOwners[] | null {
  const files = countFiles(rules, changedPaths)
  if (files === null) return null
  return rules.flatMap(({ pattern, owners }, index) => {
    const count = files.get(index)
    if (count === undefined || owners.length === 0) return []
    return [{ pattern, owners, files: count, ...computeApproval(owners, approvals) }]
  })
}

/** The number of changed files that each rule owns, by the index of the rule. */
function countFiles(rules: readonly OwnerRule[], paths: readonly string[]): Map<number, number> | null {
  const tree = createPatternTree(rules.map(({ pattern }) => pattern))
  const budget: MatchBudget = { comparisons: COMPARISONS_MAX }
  const files = new Map<number, number>()
  for (const path of new Set(paths)) {
    const index = matchPath(tree, path, budget)
    if (budget.comparisons < 0) return null
    files.set(index, (files.get(index) ?? 0) + 1)
  }
  return files
}

/**
 * Unknown if another user approved, who can be a member of a team or have an address that owns the
 * files.
 */
function computeApproval(owners: string[], approvals: readonly Pick<RecordReview, 'reviewer'>[]) {
  const users = new Set(owners.filter(isUser).map((owner) => owner.slice(1).toLowerCase()))
  const approved_by = approvals
    .flatMap(({ reviewer }) => reviewer?.login ?? [])
    .filter((login) => users.has(login.toLowerCase()))
  if (approved_by.length > 0) return { approved_by, satisfied: true }
  const canBeOther = approvals.length > 0 && !owners.every(isUser)
  return { approved_by, satisfied: canBeOther ? null : false }
}
