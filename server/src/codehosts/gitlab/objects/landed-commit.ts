import { textOrNull } from '../../kit/payload.ts'

type Merged = { sha?: string | null; merge_commit_sha?: string | null; squash_commit_sha?: string | null }

/**
 * The newest commit of the branch after the merge. A fast-forward merge has neither a merge commit
 * nor, without squashing, a new commit.
 */
export function landedCommit({ sha, merge_commit_sha: merge, squash_commit_sha: squash }: Merged): string | null {
  return textOrNull(merge) ?? textOrNull(squash) ?? textOrNull(sha)
}
