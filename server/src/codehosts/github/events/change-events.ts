import { type Static, Type } from 'typebox'
import type { HostAlertType } from '../../host-alert.ts'
import type { HostPushedCommit } from '../../host-change.ts'
import { Id, Maybe, Text, TextOrSeconds, Timestamp, textOrNull, timeOf } from '../../kit/payload.ts'
import { CheckRun, checkOf } from '../objects/check.parser.ts'
import { PullRequest, pullRequestOf, Review, reviewOf } from '../objects/pull-request.parser.ts'
import { commitOrNull } from '../objects/push.parser.ts'
import { Account, accountOf, isMergeQueue } from '../objects/repository.parser.ts'
import { type EventTranslator, repositoryEvent } from './event-translator.ts'

export const pullRequest = repositoryEvent({ pull_request: PullRequest }, ({ pull_request: pull }, repository) => ({
  kind: 'pull_request',
  data: pullRequestOf(pull, repository),
}))

export const pullRequestReview = repositoryEvent(
  { review: Review, pull_request: Type.Object({ number: Id }) },
  ({ review, pull_request: pull }, repository) => {
    const data = reviewOf(review, repository, pull.number)
    return data && { kind: 'review', data }
  },
)

export const checkRun = repositoryEvent({ check_run: CheckRun }, ({ check_run: check }, repository) => ({
  kind: 'check',
  data: checkOf(check, repository),
}))

const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text), username: Maybe(Text) })
const PushedCommit = Type.Object({ id: Text, message: Text, timestamp: Timestamp, author: Person, committer: Person })

export const push = repositoryEvent(
  {
    ref: Text,
    before: Text,
    after: Text,
    forced: Maybe(Type.Boolean()),
    sender: Maybe(Account),
    pusher: Maybe(Type.Object({ name: Maybe(Text) })),
    commits: Maybe(Type.Array(PushedCommit)),
    repository: Type.Object({ pushed_at: TextOrSeconds }),
  },
  (payload, repository) => {
    const data = {
      repository,
      ref: payload.ref,
      before: commitOrNull(payload.before),
      after: commitOrNull(payload.after),
      forced: payload.forced ?? false,
      pusher: accountOf(payload.sender),
      by_merge_queue: isMergeQueue(payload.sender?.login) || isMergeQueue(payload.pusher?.name),
      commits: (payload.commits ?? []).map(commitOf),
      pushed_at: timeOf(payload.repository.pushed_at),
    }
    return { kind: 'push', data }
  },
)

function commitOf(commit: Static<typeof PushedCommit>): HostPushedCommit {
  return {
    sha: commit.id,
    message: textOrNull(commit.message) ?? '',
    author: personOf(commit.author),
    committer: personOf(commit.committer),
    at: new Date(commit.timestamp),
  }
}

function personOf({ name, email, username }: Static<typeof Person>): HostPushedCommit['author'] {
  return { name: textOrNull(name) ?? '', email: textOrNull(email), login: textOrNull(username) }
}

/** The payloads of alerts lack fields, so they only say which alert changed. */
export function alertChange(type: HostAlertType): EventTranslator {
  return repositoryEvent({ alert: Type.Object({ number: Id }) }, ({ alert }, repository) => ({
    kind: 'alert_change',
    data: { type, number: alert.number, repository },
  }))
}
