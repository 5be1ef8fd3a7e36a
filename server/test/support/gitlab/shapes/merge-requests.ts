import { changedFilesOf } from '../../hosts/history.ts'
import type { Account, PullRequest, Review } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { type Gitlab, iso } from '../gitlab.ts'
import { userShape } from './accounts.ts'

/** As lists show it. */
export function mergeRequestEntry(gitlab: Gitlab, pull: PullRequest) {
  const { repository, merge_method: method, merge_commit_sha: landed } = pull
  return {
    id: pull.id,
    iid: pull.number,
    project_id: repository.id,
    title: pull.title,
    description: pull.description,
    state: { open: 'opened', closed: 'closed', merged: 'merged' }[pull.state],
    draft: pull.draft,
    author: userShape(gitlab, pull.author),
    source_branch: pull.head.ref,
    target_branch: pull.base.ref,
    source_project_id: repository.id,
    target_project_id: repository.id,
    // A rebase is a fast-forward merge: the head of the branch becomes that of the target.
    sha: method === 'rebase' ? landed : pull.head.sha,
    merge_commit_sha: method === 'merge' ? landed : null,
    squash_commit_sha: method === 'squash' ? landed : null,
    merge_user: pull.merged_by && userShape(gitlab, pull.merged_by),
    merged_by: pull.merged_by && userShape(gitlab, pull.merged_by),
    created_at: iso(pull.created_at),
    updated_at: iso(pull.updated_at),
    merged_at: iso(pull.merged_at),
    closed_at: pull.state === 'closed' ? iso(pull.closed_at) : null,
    web_url: `${gitlab.url}/${fullName(repository)}/-/merge_requests/${pull.number}`,
  }
}

export function mergeRequestShape(gitlab: Gitlab, pull: PullRequest) {
  const { base, head } = pull
  return {
    ...mergeRequestEntry(gitlab, pull),
    diff_refs: { base_sha: base.sha, start_sha: base.sha, head_sha: head.sha },
    changes_count: String(changedFilesOf(pull.repository, pull).length),
  }
}

/** Those whose newest approval was not withdrawn. */
export function approversOf({ reviews }: PullRequest): { user: Account; at: Date }[] {
  const byUser = new Map<Account, Review>()
  for (const review of reviews) if (review.state !== 'commented') byUser.set(review.user, review)
  return [...byUser.values()]
    .filter(({ state }) => state === 'approved')
    .map(({ user, submitted_at: at }) => ({ user, at }))
}

const SYSTEM_NOTES = {
  approved: 'approved this merge request',
  dismissed: 'approved this merge request',
  changes_requested: 'requested changes',
} as const

export function notesOf(gitlab: Gitlab, pull: PullRequest) {
  const written = pull.repository.comments.filter(
    ({ target }) => target.type === 'pull_request' && target.number === pull.number,
  )
  const reviews = pull.reviews.flatMap((review) => {
    const { id, user, state, body, submitted_at: at } = review
    if (state === 'commented') return [{ id, author: user, body, system: false, at }]
    const own = { id, author: user, body: SYSTEM_NOTES[state], system: true, at }
    const withdrawn = { ...own, id: id * 1_000_000, body: 'unapproved this merge request', at: pull.updated_at }
    return state === 'dismissed' ? [own, withdrawn] : [own]
  })
  const comments = written.map(({ id, by, text, at }) => ({ id, author: by, body: text, system: false, at }))
  return [...reviews, ...comments].map(({ id, author, body, system, at }) => ({
    id,
    body,
    system,
    author: userShape(gitlab, author),
    noteable_type: 'MergeRequest',
    noteable_iid: pull.number,
    created_at: iso(at),
    updated_at: iso(at),
  }))
}
