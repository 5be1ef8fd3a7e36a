/**
 * Whether a report's findings are open for the organization, or only noted for their branch. A ref that is not said is
 * the tracked branch. Where no repository is connected nobody knows the tracked branch, and a finding too many is
 * better than one that nobody sees.
 */
export function isTracked(gitRef: string | null, trackedBranch: string | null): boolean {
  if (gitRef === null || trackedBranch === null) return true
  return branchName(gitRef) === branchName(trackedBranch)
}

function branchName(ref: string): string {
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref
}
