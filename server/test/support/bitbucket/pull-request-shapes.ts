import type { PullRequest, Review } from '../hosts/types.ts'
import { fullName } from '../hosts/world.ts'
import type { Json } from '../json.ts'
import { accountJson, endpointJson, HTML, shortHash, timestamp } from './shapes.ts'

const STATES = { open: 'OPEN', closed: 'DECLINED', merged: 'MERGED' } as const

export function pullRequestJson(pull: PullRequest): Json {
  const { repository, number, title, state, merge_commit_sha, merged_by, closed_by } = pull
  const closer = merged_by ?? closed_by
  return {
    type: 'pullrequest',
    id: number,
    title,
    description: pull.description,
    state: STATES[state],
    draft: pull.draft,
    author: accountJson(pull.author),
    source: endpointJson(repository, pull.head),
    destination: endpointJson(repository, pull.base),
    merge_commit: merge_commit_sha === null ? null : { type: 'commit', hash: shortHash(merge_commit_sha) },
    closed_by: closer === null ? null : accountJson(closer),
    created_on: timestamp(pull.created_at),
    updated_on: timestamp(pull.updated_at),
    links: { html: { href: `${HTML}/${fullName(repository)}/pull-requests/${number}` } },
  }
}

/** Only a single pull request has its participants. */
export function wholePullRequestJson(pull: PullRequest): Json {
  return { ...pullRequestJson(pull), participants: participantsOf(pull), reviewers: [] }
}

function participantsOf({ reviews }: PullRequest): Json[] {
  const last = new Map(reviews.map((review) => [review.user.login, review]))
  return [...last.values()].map((review) => ({
    type: 'participant',
    user: accountJson(review.user),
    role: 'REVIEWER',
    approved: review.state === 'approved',
    state: review.state === 'approved' || review.state === 'changes_requested' ? review.state : null,
    participated_on: timestamp(review.submitted_at),
  }))
}

/** What happened to a pull request, newest first. A withdrawn approval stays in the list. */
export function activitiesOf(pull: PullRequest): Json[] {
  // Before everything else, also before what happened in the same millisecond.
  const opened = { at: new Date(pull.created_at.getTime() - 1000), json: updateJson(pull, 'OPEN', pull.created_at) }
  const reviews = pull.reviews.flatMap((review) => {
    // The commit that is the head when a review is given is an update of its own.
    const pushed = {
      at: new Date(review.submitted_at.getTime() - 1),
      json: updateJson(pull, 'OPEN', review.submitted_at, review.commit_id),
    }
    return [pushed, { at: review.submitted_at, json: reviewJson(review) }]
  })
  const end = pull.closed_at
  const ended = end === null ? [] : [{ at: end, json: updateJson(pull, STATES[pull.state], end) }]
  const all = [opened, ...reviews, ...ended].sort((one, other) => other.at.getTime() - one.at.getTime())
  return all.map(({ json }) => json)
}

function updateJson(pull: PullRequest, state: string, at: Date, sha = pull.head.sha): Json {
  return {
    update: {
      state,
      date: timestamp(at),
      title: pull.title,
      author: accountJson(pull.author),
      source: endpointJson(pull.repository, { ref: pull.head.ref, sha }),
      destination: endpointJson(pull.repository, pull.base),
    },
  }
}

function reviewJson({ state, user, submitted_at, body }: Review): Json {
  const answer = { date: timestamp(submitted_at), user: accountJson(user) }
  if (state === 'commented') return { comment: { created_on: timestamp(submitted_at), content: { raw: body } } }
  return state === 'changes_requested' ? { changes_requested: answer } : { approval: answer }
}
