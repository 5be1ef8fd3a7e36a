const BRANCH_REF = 'refs/heads/'

/**
 * The branch that a ref names, in the one form in which branches are compared: `refs/heads/main`
 * and `main` are both `main`. A ref that does not start with `refs/` is the name of a branch. Every
 * other ref is no branch and gives null: a tag (`refs/tags/v1`), a merge request's merge commit
 * (`refs/pull/1/merge`), and an absent ref.
 *
 * The function `branch_name` of the database separates the streams of different refs. It has the
 * same rule for branches and returns other refs unchanged.
 */
export function parseBranchName(ref: string | null): string | null {
  if (ref === null || !ref.startsWith('refs/')) return ref
  return ref.startsWith(BRANCH_REF) ? ref.slice(BRANCH_REF.length) || null : null
}

/**
 * Whether a report about this ref is about the tracked branch of its repository. A report without a
 * ref is. If the repository is not connected, its tracked branch is unknown and every report
 * counts: it is better to show too many findings than to hide some.
 */
export function isTracked(ref: string | null, trackedBranch: string | null): boolean {
  if (ref === null || trackedBranch === null) return true
  const branch = parseBranchName(ref)
  return branch !== null && branch === parseBranchName(trackedBranch)
}
