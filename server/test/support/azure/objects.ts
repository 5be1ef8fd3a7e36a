import { refOf } from '../hosts/history.ts'
import type { Account, Commit, Project, PullRequest, Push, Repository } from '../hosts/types.ts'
import type { AzureState } from './state.ts'

export function identity(state: AzureState, account: Account) {
  const prefix = account.type === 'bot' ? 'svc' : 'aad'
  return {
    displayName: account.name ?? account.login,
    id: account.uuid,
    uniqueName: account.login,
    imageUrl: `${state.url}/_apis/GraphProfile/MemberAvatars/${account.uuid}`,
    descriptor: `${prefix}.${account.uuid.replaceAll('-', '')}`,
  }
}

export function project(state: AzureState, { uuid, name, created_at, owner }: Project) {
  return {
    id: uuid,
    name,
    url: `${state.url}/${owner.login}/_apis/projects/${uuid}`,
    state: 'wellFormed',
    revision: 11,
    visibility: 'private',
    lastUpdateTime: created_at.toISOString(),
  }
}

export function repositoryUrl(state: AzureState, repository: Repository): string {
  return `${state.webUrl(repository.project)}/_git/${encodeURIComponent(repository.name)}`
}

/** All repositories of a project are public or private together. */
export function repository(state: AzureState, one: Repository) {
  const visibility = one.private ? 'private' : 'public'
  return {
    id: one.uuid,
    name: one.name,
    url: `${state.url}/${one.owner.login}/${one.project.uuid}/_apis/git/repositories/${one.uuid}`,
    project: { ...project(state, one.project), visibility, lastUpdateTime: one.updated_at.toISOString() },
    ...(one.refs.size === 0 ? {} : { defaultBranch: refOf(one.default_branch) }),
    size: 4096,
    remoteUrl: repositoryUrl(state, one),
    webUrl: repositoryUrl(state, one),
    isDisabled: one.archived,
    isInMaintenance: false,
  }
}

const MESSAGE_CHARS_MAX = 100

/** Lists cut long messages. */
export function commit(one: Commit, isWhole: boolean) {
  const isCut = !isWhole && one.message.length > MESSAGE_CHARS_MAX
  const date = one.at.toISOString()
  return {
    commitId: one.sha,
    author: { ...one.author, date },
    committer: { ...one.committer, date },
    comment: isCut ? one.message.slice(0, MESSAGE_CHARS_MAX) : one.message,
    ...(isCut ? { commentTruncated: true } : {}),
  }
}

export function push(state: AzureState, one: Push, of: Repository) {
  const none = '0'.repeat(40)
  return {
    pushId: one.id,
    date: one.at.toISOString(),
    pushedBy: identity(state, one.pusher),
    url: `${repositoryUrl(state, of)}/pushes/${one.id}`,
    refUpdates: [
      { repositoryId: of.uuid, name: one.ref, oldObjectId: one.before ?? none, newObjectId: one.after ?? none },
    ],
  }
}

const STATUS = { open: 'active', closed: 'abandoned', merged: 'completed' } as const

export function pullRequest(state: AzureState, one: PullRequest) {
  const { merged_by: mergedBy, closed_by: closedBy } = one
  const by = mergedBy ?? closedBy
  return {
    repository: repository(state, one.repository),
    pullRequestId: one.number,
    codeReviewId: one.number,
    status: STATUS[one.state],
    createdBy: identity(state, one.author),
    creationDate: one.created_at.toISOString(),
    ...(one.closed_at === null ? {} : { closedDate: one.closed_at.toISOString() }),
    ...(by === null ? {} : { closedBy: identity(state, by) }),
    title: one.title,
    description: one.description,
    sourceRefName: refOf(one.head.ref),
    targetRefName: refOf(one.base.ref),
    mergeStatus: 'succeeded',
    isDraft: one.draft,
    lastMergeSourceCommit: { commitId: one.head.sha },
    lastMergeTargetCommit: { commitId: one.base.sha },
    lastMergeCommit: { commitId: one.merge_commit_sha ?? one.head.sha },
    reviewers: reviewersOf(state, one),
    supportsIterations: true,
  }
}

const VOTES = { approved: 10, changes_requested: -10, dismissed: 0, commented: 0 } as const

/** The present vote of each reviewer. */
function reviewersOf(state: AzureState, { reviews }: PullRequest) {
  const newest = new Map(reviews.filter((one) => one.state !== 'commented').map((one) => [one.user, one]))
  return [...newest].map(([user, one]) => ({ ...identity(state, user), vote: VOTES[one.state], isContainer: false }))
}

/** A thread for each vote and comment, and one for the newest change of the pull request itself. */
export function threads(state: AzureState, { id, reviews, author, updated_at: at }: PullRequest) {
  const votes = reviews.map((one) => {
    const user = identity(state, one.user)
    const vote = one.state === 'changes_requested' ? -10 : 10
    const isVote = one.state !== 'commented'
    const type = isVote ? 'system' : 'text'
    const properties = { CodeReviewThreadType: text('VoteUpdate'), CodeReviewVoteResult: text(String(vote)) }
    const voted = { ...properties, CodeReviewVotedByIdentity: text('1') }
    return {
      ...thread(one.id, one.submitted_at, { content: one.body, commentType: type, author: user }),
      ...(isVote ? { properties: voted, identities: { 1: user } } : {}),
    }
  })
  const content = 'The reference was updated.'
  const last = thread(id, at, { content, commentType: 'system', author: identity(state, author) })
  return [...votes, { ...last, properties: { CodeReviewThreadType: text('RefUpdate') } }]
}

function text($value: string) {
  return { $type: 'System.String', $value }
}

function thread(id: number, at: Date, comment: object) {
  const date = at.toISOString()
  const comments = [{ id: 1, parentCommentId: 0, publishedDate: date, lastUpdatedDate: date, ...comment }]
  return { id, publishedDate: date, lastUpdatedDate: date, comments, isDeleted: false }
}
