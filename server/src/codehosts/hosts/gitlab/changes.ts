import { type Static, Type } from 'typebox'
import { DAY_MS } from '../../../platform/clock.ts'
import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostPullRequest, HostReview, ToldPush } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { readBranchRules, readCodeOwners } from './branch-rules.ts'
import { Account, formatProjectPath, type Session, toHostAccount } from './client.ts'
import { fetchMergeRequest, selectLandedCommit } from './commits.ts'

type ChangeReads = Pick<
  HostReader,
  | 'listPullRequests'
  | 'readPullRequest'
  | 'listReviews'
  | 'listChangedFiles'
  | 'listPushes'
  | 'readBranchRules'
  | 'readCodeOwners'
>

/** Each merge request of the list is read, because the list does not contain its base. */
const MERGE_REQUESTS_AT_ONCE = 20

export function createChangeReads(session: Session): ChangeReads {
  const { api } = session
  const read = async (repository: HostRepository, number: number): Promise<HostPullRequest | null> => {
    const found = await api.read(requestPath(repository, number))
    const request = found && parseMergeRequest(found)
    if (!request) return null
    const byTrain = request.state === 'merged' && (await wasMergedByTrain(session, repository, number))
    return toHostPullRequest(request, repository, byTrain)
  }
  return {
    async listPullRequests(repository, options) {
      const path = `${formatProjectPath(repository)}/merge_requests`
      const query = { scope: 'all', state: 'all', order_by: 'updated_at', sort: 'desc' }
      const request = { path, query, options, pageItems: MERGE_REQUESTS_AT_ONCE }
      const page = await api.readPage(request, parseMergeRequest)
      if (page === 'not_modified') return page
      const items = await Promise.all(page.items.map(({ iid }) => read(repository, iid)))
      return { ...page, items: items.filter((item) => item !== null) }
    },

    readPullRequest: read,

    async listReviews(repository, number) {
      const path = requestPath(repository, number)
      const approvals = await api.read(`${path}/approvals`)
      if (approvals === null) return []
      const query = { order_by: 'created_at', sort: 'asc' }
      const notes = await api.readAll(`${path}/notes`, query, (note) => readAs(Note, note))
      return toHostReviews(approvals, notes, { repository, pull_request: number })
    },

    /** GitLab states the number of changed files, or with a `+` that it stopped to count. */
    async listChangedFiles(repository, number) {
      const path = requestPath(repository, number)
      const values = await api.readList(`${path}/diffs`)
      const found = await api.read(path)
      if (values === null || found === null) return null
      const paths = api.parseItems(values, parseChangedFile)
      const count = Number(parseMergeRequest(found).changes_count ?? Number.NaN)
      return { paths: [...new Set(paths.flat())], complete: paths.length === values.length && paths.length === count }
    },

    listPushes: (repository, branch, options) => fetchPushes(session, repository, { branch, options }),

    readBranchRules: readBranchRules(session),

    readCodeOwners: readCodeOwners(session),
  }
}

/** GitLab keeps events for years. Older pushes are not imported anyway. */
const PUSHES_MS = 91 * DAY_MS

/** GitLab lists the pushes to all branches, and the merge of a merge request as a push, too. */
async function fetchPushes(
  { api, clock }: Session,
  repository: HostRepository,
  { branch, options }: { branch: string; options: ListOptions },
): Promise<ListResult<ToldPush>> {
  const after = new Date(clock.now().getTime() - PUSHES_MS).toISOString().slice(0, 10)
  const request = { path: `${formatProjectPath(repository)}/events`, query: { action: 'pushed', after }, options }
  const page = await api.readPage(request, (event) => parsePushEvent(event, repository))
  if (page === 'not_modified') return page
  const own = page.items.filter(({ ref }) => ref === `refs/heads/${branch}`)
  const merged = await Promise.all(
    own.map(({ after }) => (after === null ? null : fetchMergeRequest(api, repository, after))),
  )
  return { ...page, items: own.filter((_, at) => merged[at] === null) }
}

const Diff = Type.Object({ old_path: Text, new_path: Text })

/** The path of a file, and the former one of a moved file. */
function parseChangedFile(value: unknown): string[] {
  const { old_path, new_path } = readAs(Diff, value)
  return [...new Set([new_path, old_path])]
}

const Car = Type.Object({ status: Maybe(Text) })

/** False where the edition has no merge trains, or the project does not use them. */
async function wasMergedByTrain(session: Session, repository: HostRepository, number: number): Promise<boolean> {
  const { merge_trains: isUsed } = await session.settings(repository)
  if (!isUsed) return false
  const car = await session.api.read(
    `${formatProjectPath(repository)}${encodePath`/merge_trains/merge_requests/${number}`}`,
  )
  return car !== null && readAs(Car, car).status === 'merged'
}

function requestPath(repository: HostRepository, number: number): string {
  return `${formatProjectPath(repository)}${encodePath`/merge_requests/${number}`}`
}

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

function parseMergeRequest(value: unknown): MergeRequest {
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
export function toHostPullRequest(
  request: MergeRequest,
  repository: HostRepository,
  byTrain: boolean,
): HostPullRequest | null {
  const sha = parseText(request.sha)
  if (sha === null) return null
  const state = STATES[request.state] ?? 'open'
  const isMerged = state === 'merged'
  const base = parseText(request.diff_refs?.start_sha) ?? parseText(request.diff_refs?.base_sha)
  return {
    repository,
    number: request.iid,
    title: parseText(request.title) ?? '',
    url: parseText(request.web_url),
    author: toHostAccount(request.author),
    state,
    draft: request.draft ?? false,
    head: {
      ref: request.source_branch,
      sha,
      repository_id: request.source_project_id ? String(request.source_project_id) : null,
    },
    base: { ref: request.target_branch, sha: base ?? sha },
    merge_commit_sha: isMerged ? selectLandedCommit(request) : null,
    merged_by: isMerged ? toHostAccount(request.merge_user ?? request.merged_by) : null,
    merged_by_queue: isMerged && byTrain,
    created_at: new Date(request.created_at),
    merged_at: isMerged ? parseDate(request.merged_at) : null,
    // GitLab does not call a merged one closed.
    closed_at: parseDate(request.closed_at) ?? (isMerged ? parseDate(request.merged_at) : null),
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

/** What GitLab notes on a merge request itself. These texts are not translated. */
const APPROVED = 'approved this merge request'
const REQUESTED_CHANGES = 'requested changes'

/**
 * The reviews: each approval that GitLab noted, dismissed unless it is the newest of someone whose
 * approval counts now. `approvals` alone says who has approved.
 */
export function toHostReviews(
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
    return toHostReview(note, of, counts ? 'approved' : 'dismissed')
  })
  const withoutNote = approvers.flatMap(({ user, approved_at: at }): HostReview[] => {
    if (!user || !at || newest.has(user.id)) return []
    const review = { id: `approval_${user.id}`, reviewer: toHostAccount(user), state: 'approved' as const }
    return [{ ...of, ...review, commit_sha: null, submitted_at: new Date(at) }]
  })
  const requests = notes.filter(({ system, body }) => system && body === REQUESTED_CHANGES)
  const comments = notes.filter(({ system }) => !system)
  return [
    ...fromNotes,
    ...withoutNote,
    ...requests.map((note) => toHostReview(note, of, 'changes_requested')),
    ...comments.map((note) => toHostReview(note, of, 'commented')),
  ]
}

/** GitLab does not say which commit was reviewed. */
function toHostReview(
  { id, author, created_at }: Note,
  of: { repository: HostRepository; pull_request: number },
  state: HostReview['state'],
): HostReview {
  const reviewer = toHostAccount(author)
  return { ...of, id: String(id), reviewer, state, commit_sha: null, submitted_at: new Date(created_at) }
}

const Event = Type.Object({
  created_at: Timestamp,
  author: Maybe(Account),
  push_data: Maybe(
    Type.Object({
      ref: Maybe(Text),
      ref_type: Maybe(Text),
      commit_from: Maybe(Text),
      commit_to: Maybe(Text),
    }),
  ),
})

/** A push to a branch. Null for one to a tag, and for one to several branches at once. */
export function parsePushEvent(value: unknown, repository: HostRepository): ToldPush | null {
  const { created_at, author, push_data: push } = readAs(Event, value)
  const branch = push?.ref_type === 'branch' ? parseText(push.ref) : null
  if (branch === null) return null
  return {
    repository,
    ref: `refs/heads/${branch}`,
    before: parseText(push?.commit_from),
    after: parseText(push?.commit_to),
    forced: null,
    pusher: toHostAccount(author),
    by_merge_queue: false,
    commits: [],
    pushed_at: new Date(created_at),
  }
}

/** Zeros stand for no commit. */
export function parseSha(sha: string | null | undefined): string | null {
  return !sha || /^0+$/.test(sha) ? null : sha
}
