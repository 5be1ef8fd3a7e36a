import type { Schema } from '../../api/client.ts'

export type Change = Schema<'Change'>
export type ListedChange = Schema<'ListedChange'>
export type Deviation = Change['deviations'][number]

export const DEVIATIONS = [
  'direct_push',
  'self_approved',
  'no_review',
  'stale_review',
  'check_failed',
  'bypassed_protection',
  'unsigned_commit',
] as const satisfies Deviation[]

/** What each deviation says (docs/changes.md, "Deviations"). */
export const DEVIATION_WORDS: Record<Deviation, [label: string, explanation: string]> = {
  direct_push: ['Direct push', 'It landed by a push, without a pull request.'],
  self_approved: ['Self-approved', 'Every approval is by an author of the change.'],
  no_review: ['No review', 'The pull request has no approval.'],
  stale_review: ['Stale review', 'Commits followed the last approval by somebody else.'],
  check_failed: ['Check failed', 'A check or run of the landed commit failed, or a required check did.'],
  bypassed_protection: [
    'Protection bypassed',
    'The rules of the branch required something that the change does not have.',
  ],
  unsigned_commit: ['Unsigned commit', 'A commit has no signature that the code host verified.'],
}

export const LANDED_BY_NAMES: Record<Change['landed_by'], string> = {
  pull_request: 'Pull request',
  push: 'Push',
  merge_queue: 'Merge queue',
}

type Described = Pick<Change, 'pull_request' | 'pusher' | 'commits' | 'branch'>

/** The title of the pull request, or what was pushed. */
export function titleOf({ pull_request, commits, branch }: Described): string {
  return pull_request?.title ?? `Push of ${shortSha(commits.merge)} to ${branch}`
}

/** Who opened the pull request, or who pushed. Null if the account was deleted. */
export function authorOf({ pull_request, pusher }: Described): string | null {
  return (pull_request ? pull_request.author : pusher)?.login ?? null
}

export function shortSha(sha: string): string {
  return sha.slice(0, 7)
}
