import type { ChangeCommit, ChangeRecord, CommitPerson, RecordAccount, RecordReview } from './change-record.ts'

/** The reviews that state an opinion. A comment does not replace an opinion. */
const OPINIONS: readonly RecordReview['state'][] = ['approved', 'changes_requested', 'dismissed']

/** The account that GitHub uses as the committer of commits that are made on its website. */
const WEB_COMMITTER = 'web-flow'

type ReviewedChange = Pick<ChangeRecord, 'pull_request' | 'reviews'>

/**
 * The reviews that approved a pull request when it was merged, oldest first. Only the last opinion
 * of each reviewer counts, as on code hosts: an approval, a request for changes, or a dismissed
 * review. Reviews that were submitted after the merge do not count.
 */
export function getApprovals({ pull_request, reviews }: ReviewedChange): RecordReview[] {
  if (pull_request === null) return []
  const opinions = new Map<string, RecordReview>()
  for (const review of inOrder(reviews)) {
    if (!OPINIONS.includes(review.state) || isAfter(review.submitted_at, pull_request.merged_at)) continue
    opinions.set(review.reviewer?.id ?? `unknown reviewer of ${review.id}`, review)
  }
  return inOrder([...opinions.values()].filter(({ state }) => state === 'approved'))
}

/** The approvals that are not by the author of the pull request. Code hosts require these. */
export function getApprovalsByOthers(change: ReviewedChange): RecordReview[] {
  const author = change.pull_request?.author ?? null
  return getApprovals(change).filter(({ reviewer }) => !isSame(reviewer, author))
}

/**
 * Whether the reviewer wrote the change: is the author of the pull request, or the author or the
 * committer of one of its commits. The commits that the merge created are not commits of the pull
 * request: the one who merged is their committer.
 */
export function isByAuthor(
  { reviewer }: RecordReview,
  { pull_request, commits }: Pick<ChangeRecord, 'pull_request' | 'commits'>,
): boolean {
  if (isSame(reviewer, pull_request?.author ?? null)) return true
  const created = new Set(getMergeCommits(commits))
  const own = commits.list.filter((commit) => !created.has(commit))
  const isComplete = own.some(({ sha }) => sha === commits.head)
  return own.some(({ author, committer }) => isSame(reviewer, author) || (isComplete && isSame(reviewer, committer)))
}

/**
 * The listed commits that the merge of a pull request created. They follow the newest commit of the
 * pull request. If that one is not listed, only the last commit on the branch is known to be one.
 */
export function getMergeCommits({ head, merge, list }: ChangeRecord['commits']): ChangeCommit[] {
  if (head === merge) return []
  const end = list.findIndex(({ sha }) => sha === head)
  return end >= 0 ? list.slice(end + 1) : list.filter(({ sha }) => sha === merge)
}

/**
 * At equal times, an approval comes first, so that the result does not depend on the given order.
 */
function inOrder(reviews: readonly RecordReview[]): RecordReview[] {
  return reviews.toSorted(
    (a, b) =>
      Date.parse(a.submitted_at) - Date.parse(b.submitted_at) ||
      Number(b.state === 'approved') - Number(a.state === 'approved') ||
      (a.id < b.id ? -1 : 1),
  )
}

/** Compares whole seconds, because code hosts state some times without fractions. */
function isAfter(time: string, other: string): boolean {
  return Math.floor(Date.parse(time) / 1000) > Math.floor(Date.parse(other) / 1000)
}

/** Logins are compared only where an id is missing. Code hosts ignore their case. */
function isSame(one: RecordAccount | null, other: RecordAccount | CommitPerson | null): boolean {
  if (one === null || other === null || other.login === WEB_COMMITTER) return false
  if (one.id && other.id) return one.id === other.id
  return other.login !== null && one.login.toLowerCase() === other.login.toLowerCase()
}
