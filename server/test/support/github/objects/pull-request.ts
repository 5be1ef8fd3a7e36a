import { changedFilesOf, commitsOf } from '../../hosts/history.ts'
import type { PullRequest, Repository, Review } from '../../hosts/types.ts'
import { simpleUser } from './accounts.ts'
import { wholeRepository } from './repository.ts'
import { apiUrl, pageUrl, type Urls } from './urls.ts'

export function simplePullRequest(urls: Urls, repository: Repository, pullRequest: PullRequest) {
  const { number } = pullRequest
  const url = `${apiUrl(urls, repository)}/pulls/${number}`
  const issue = `${apiUrl(urls, repository)}/issues/${number}`
  const page = `${pageUrl(urls, repository)}/pull/${number}`
  const statuses = `${apiUrl(urls, repository)}/statuses/${pullRequest.head.sha}`
  const links = {
    self: url,
    html: page,
    issue,
    comments: `${issue}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${apiUrl(urls, repository)}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses,
  }
  return {
    url,
    id: pullRequest.id,
    node_id: `PR_${pullRequest.id}`,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issue,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: statuses,
    number,
    state: stateOf(pullRequest),
    locked: false,
    title: pullRequest.title,
    user: simpleUser(urls, pullRequest.author),
    body: null,
    labels: [],
    milestone: null,
    active_lock_reason: null,
    created_at: pullRequest.created_at,
    updated_at: pullRequest.updated_at,
    closed_at: pullRequest.closed_at,
    merged_at: pullRequest.merged_at,
    merge_commit_sha: pullRequest.merge_commit_sha,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    head: side(urls, repository, pullRequest.head),
    base: side(urls, repository, pullRequest.base),
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: 'MEMBER',
    auto_merge: null,
    draft: pullRequest.draft,
  }
}

/** A merged pull request is closed. */
export function stateOf({ state }: PullRequest): 'open' | 'closed' {
  return state === 'open' ? 'open' : 'closed'
}

function side(urls: Urls, repository: Repository, { ref, sha }: { ref: string; sha: string }) {
  const { owner } = repository
  return {
    label: `${owner.login}:${ref}`,
    ref,
    sha,
    user: simpleUser(urls, owner),
    repo: wholeRepository(urls, repository),
  }
}

export function wholePullRequest(urls: Urls, repository: Repository, pullRequest: PullRequest) {
  const { merged_by, merged_at } = pullRequest
  return {
    ...simplePullRequest(urls, repository, pullRequest),
    merged: merged_at !== null,
    mergeable: merged_at === null ? true : null,
    rebaseable: null,
    mergeable_state: 'clean',
    merged_by: merged_by === null ? null : simpleUser(urls, merged_by),
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: commitsOf(repository, pullRequest).length,
    additions: 1,
    deletions: 0,
    changed_files: changedFilesOf(repository, pullRequest).length,
  }
}

/** A review in the words of the REST API; webhooks write the state in small letters. */
export function reviewObject(urls: Urls, repository: Repository, { number }: PullRequest, review: Review) {
  const page = `${pageUrl(urls, repository)}/pull/${number}`
  const pull_request_url = `${apiUrl(urls, repository)}/pulls/${number}`
  const html_url = `${page}#pullrequestreview-${review.id}`
  return {
    id: review.id,
    node_id: `PRR_${review.id}`,
    user: simpleUser(urls, review.user),
    body: review.body,
    state: review.state.toUpperCase(),
    html_url,
    pull_request_url,
    author_association: 'MEMBER',
    _links: { html: { href: html_url }, pull_request: { href: pull_request_url } },
    submitted_at: review.submitted_at,
    commit_id: review.commit_id,
  }
}
