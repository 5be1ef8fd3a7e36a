import { type Static, Type } from 'typebox'
import type { HostPullRequest, HostReview } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './account.parser.ts'
import { landedCommit } from './landed-commit.ts'

const MergeRequest = Type.Object({
  iid: Id,
  title: Text,
  web_url: Maybe(Text),
  author: Maybe(Account),
  state: Text,
  draft: Maybe(Type.Boolean()),
  source_branch: Text,
  source_project_id: Maybe(Id),
  target_branch: Text,
  sha: Maybe(Text),
  diff_refs: Maybe(Type.Object({ base_sha: Maybe(Text), start_sha: Maybe(Text) })),
  merge_commit_sha: Maybe(Text),
  squash_commit_sha: Maybe(Text),
  merge_user: Maybe(Account),
  merged_by: Maybe(Account),
  created_at: Timestamp,
  merged_at: Maybe(Timestamp),
  closed_at: Maybe(Timestamp),
  updated_at: Timestamp,
  changes_count: Maybe(Text),
})
export type MergeRequest = Static<typeof MergeRequest>

export function parseMergeRequest(value: unknown): MergeRequest {
  return readAs(MergeRequest, value)
}

const STATES: Readonly<Record<string, HostPullRequest['state']>> = {
  opened: 'open',
  // While it is merged, or its discussion is closed for new comments.
  locked: 'open',
  closed: 'closed',
  merged: 'merged',
}

/** Null while GitLab has not read the commits of a new merge request. */
export function pullRequestOf(
  request: MergeRequest,
  repository: HostRepository,
  byTrain: boolean,
): HostPullRequest | null {
  const sha = textOrNull(request.sha)
  if (sha === null) return null
  const state = STATES[request.state] ?? 'open'
  const isMerged = state === 'merged'
  const base = textOrNull(request.diff_refs?.start_sha) ?? textOrNull(request.diff_refs?.base_sha)
  return {
    repository,
    number: request.iid,
    title: textOrNull(request.title) ?? '',
    url: textOrNull(request.web_url),
    author: accountOf(request.author),
    state,
    draft: request.draft ?? false,
    head: {
      ref: request.source_branch,
      sha,
      repository_id: request.source_project_id ? String(request.source_project_id) : null,
    },
    base: { ref: request.target_branch, sha: base ?? sha },
    merge_commit_sha: isMerged ? landedCommit(request) : null,
    merged_by: isMerged ? accountOf(request.merge_user ?? request.merged_by) : null,
    merged_by_queue: isMerged && byTrain,
    created_at: new Date(request.created_at),
    merged_at: isMerged ? dateOrNull(request.merged_at) : null,
    // GitLab does not call a merged one closed.
    closed_at: dateOrNull(request.closed_at) ?? (isMerged ? dateOrNull(request.merged_at) : null),
    updated_at: new Date(request.updated_at),
  }
}

const Approvals = Type.Object({
  approved_by: Maybe(Type.Array(Type.Object({ user: Maybe(Account), approved_at: Maybe(Timestamp) }))),
})

const Note = Type.Object({
  id: Id,
  body: Maybe(Text),
  system: Maybe(Type.Boolean()),
  author: Maybe(Account),
  created_at: Timestamp,
})
type Note = Static<typeof Note>

export function parseNote(value: unknown): Note {
  return readAs(Note, value)
}

/** What GitLab notes on a merge request itself. These texts are not translated. */
const APPROVED = 'approved this merge request'
const REQUESTED_CHANGES = 'requested changes'

/**
 * The reviews: each approval that GitLab noted, dismissed unless it is the newest of someone whose
 * approval counts now. `approvals` alone says who has approved.
 */
export function reviewsOf(
  approvals: unknown,
  notes: readonly Note[],
  of: { repository: HostRepository; pull_request: number },
): HostReview[] {
  const approvers = (readAs(Approvals, approvals).approved_by ?? []).filter(({ user }) => user)
  const approved = new Set(approvers.map(({ user }) => user?.id))
  const noted = notes.filter(({ system, body }) => system && body === APPROVED)
  const newest = new Map(noted.map((note) => [note.author?.id, note.id]))
  const fromNotes = noted.map((note) => {
    const counts = approved.has(note.author?.id ?? -1) && newest.get(note.author?.id) === note.id
    return reviewOf(note, of, counts ? 'approved' : 'dismissed')
  })
  const withoutNote = approvers.flatMap(({ user, approved_at: at }): HostReview[] => {
    if (!user || !at || newest.has(user.id)) return []
    const review = { id: `approval_${user.id}`, reviewer: accountOf(user), state: 'approved' as const }
    return [{ ...of, ...review, commit_sha: null, submitted_at: new Date(at) }]
  })
  const requests = notes.filter(({ system, body }) => system && body === REQUESTED_CHANGES)
  const comments = notes.filter(({ system }) => !system)
  return [
    ...fromNotes,
    ...withoutNote,
    ...requests.map((note) => reviewOf(note, of, 'changes_requested')),
    ...comments.map((note) => reviewOf(note, of, 'commented')),
  ]
}

/** GitLab does not say which commit was reviewed. */
function reviewOf(
  { id, author, created_at }: Note,
  of: { repository: HostRepository; pull_request: number },
  state: HostReview['state'],
): HostReview {
  const reviewer = accountOf(author)
  return { ...of, id: String(id), reviewer, state, commit_sha: null, submitted_at: new Date(created_at) }
}
