/** The branch that a run's ref means: `refs/heads/main` is main, and a ref that does not start with `refs/` is one. Null for a tag. */
export function branchName(ref: string | null): string | null {
  if (ref === null || !ref.startsWith('refs/')) return ref
  return ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
}
