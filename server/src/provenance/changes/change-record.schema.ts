import { type TProperties, Type } from 'typebox'
import { COMMIT_SHA } from '../../ci/runs/run.schema.ts'
import { RUN_STATUSES } from '../../ci/runs/run-status.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { DEVIATIONS } from './change-record.ts'

export function defineText(description: string) {
  return Type.String({ description })
}

function nullableText(description: string) {
  return Nullable(defineText(description))
}

export function defineTime(description: string) {
  return Type.String({ ...Timestamp, description })
}

function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

export function defineSha(description: string) {
  return Type.String({ pattern: COMMIT_SHA, description })
}

function flag(description: string) {
  return Type.Boolean({ description })
}

export function defineDeviationName(options: { description?: string } = {}) {
  return OneOf(DEVIATIONS, options)
}

function Account(description: string) {
  return Nullable(
    Closed({
      id: defineText('The id of the account on the code host.'),
      login: defineText('The login of the account.'),
      is_bot: flag('Whether the account belongs to an app or a bot.'),
    }),
    { description },
  )
}

function Person(description: string) {
  return Closed(
    {
      name: defineText('The name in the commit.'),
      email: nullableText('The email address in the commit.'),
      id: nullableText('The id of the account with this address. Null if the code host knows none.'),
      login: nullableText('The login of the account with this address. Null if the code host knows none.'),
    },
    { description },
  )
}

const Commit = Closed({
  sha: defineSha('The SHA of the commit.'),
  author: Person('Who wrote the commit.'),
  committer: Person('Who created the commit.'),
  signature: Nullable(
    Closed({
      verified: flag('Whether the code host verified the signature.'),
      reason: defineText('The reason that the code host states, such as `valid` or `unsigned`.'),
    }),
    { description: 'The signature of the commit. Null if the code host does not state it.' },
  ),
})

const Commits = Closed(
  {
    head: defineSha('The newest commit of the pull request or the push.'),
    base: Nullable(defineSha('The commit on the branch before the change. Null if it is unknown.')),
    merge: defineSha('The commit on the branch that the change ends with.'),
    list: Type.Array(Commit, {
      description: 'The commits of the pull request or the push, oldest first, and then those that the merge created.',
    }),
    complete: flag('False if the code host did not list all commits.'),
  },
  { description: 'The commits of the change.' },
)

export const RecordPullRequest = Closed({
  number: Type.Integer({ minimum: 1, description: 'The number of the pull request.' }),
  title: defineText('The title of the pull request.'),
  url: nullableText('The URL of the pull request.'),
  author: Account('Who opened the pull request. Null if the account was deleted.'),
  opened_at: defineTime('When the pull request was opened.'),
  merged_at: defineTime('When the pull request was merged.'),
  merged_by: Account('Who merged the pull request. Null if it is unknown.'),
})

/** What every statement shows of a review. */
export const review = {
  reviewer: Account('Who reviewed. Null if the account was deleted.'),
  state: OneOf(['approved', 'changes_requested', 'commented', 'dismissed'], {
    description: 'The result of the review.',
  }),
  commit_sha: Nullable(defineSha('The commit that was reviewed. Null if it is unknown.')),
  submitted_at: defineTime('When the review was submitted.'),
  stale: flag('Whether commits followed the one that was reviewed.'),
} satisfies TProperties

const Review = Closed({ id: defineText('The id of the review on the code host.'), ...review })

const Check = Closed({
  name: defineText('The name of the check.'),
  source: defineText('The app or service that ran the check.'),
  status: OneOf(RUN_STATUSES, { description: 'The status of the check.' }),
  required: Nullable(flag('Whether the branch rules require the check. Null if the rules are unknown.')),
  commit_sha: defineSha('The commit that was checked: `commits.head` or `commits.merge`.'),
  url: nullableText('The URL of the check.'),
  completed_at: Nullable(defineTime('When the check finished. Null if it had not finished.')),
})

const Run = Closed({
  id: defineText('The id of the pipeline run.'),
  pipeline_name: defineText('The name of the pipeline.'),
  attempt: Type.Integer({ minimum: 1, description: 'The newest attempt of the run.' }),
  status: OneOf(RUN_STATUSES, { description: 'The status of the run.' }),
  url: nullableText('The URL of the run.'),
  completed_at: Nullable(defineTime('When the run finished. Null if it had not finished.')),
})

const Rules = Closed({
  requires_pull_request: flag('Whether changes must be made by pull requests.'),
  required_approvals: count('How many approvals a pull request needs.'),
  requires_code_owner_review: flag('Whether code owners must approve.'),
  required_checks: Type.Array(defineText('The name of a check.'), { description: 'The checks that must pass.' }),
  requires_signatures: flag('Whether commits must have verified signatures.'),
  blocks_force_pushes: flag('Whether force pushes are refused.'),
  blocks_deletion: flag('Whether the branch cannot be deleted.'),
  requires_merge_queue: flag('Whether pull requests must be merged by the merge queue.'),
  complete: flag('False if the branch can have further rules that Shiplock cannot read, such as classic protection.'),
})

const OwnerRule = Closed({
  pattern: defineText('The pattern of the rule.'),
  owners: Type.Array(defineText('`@user`, `@organization/team` or an email address.'), { description: 'The owners.' }),
  files: count('How many changed files the rule owns.'),
  approved_by: Type.Array(defineText('A login.'), { description: 'The owners who approved, by login.' }),
  satisfied: Nullable(
    flag(
      'Whether an owner approved. Null if it is unknown, because a member of a team or the holder of an address can have.',
    ),
  ),
})

const CodeOwners = Closed({
  path: defineText('The path of the CODEOWNERS file.'),
  commit_sha: defineSha('The commit that the file was read at.'),
  rules: Type.Array(OwnerRule, { description: 'The rules that own changed files, in the order of the file.' }),
})

const counts = {
  critical: count('Issues of critical severity.'),
  high: count('Issues of high severity.'),
  medium: count('Issues of medium severity.'),
  low: count('Issues of low severity.'),
  info: count('Issues of informational severity.'),
}
const known_exploited = count('Those with a vulnerability in the KEV catalog.')

const Security = Closed({
  open: Closed(counts, { description: 'The open issues of the tracked branch, by severity.' }),
  known_exploited,
  added: Nullable(Closed({ ...counts, known_exploited }), {
    description:
      'The issues that the pull request adds. Null for a push, or if no scanner reported on the pull request.',
  }),
})

export const RecordPusher = Account('Who pushed the commits. Null for a pull request.')
export const LandedBy = OneOf(['pull_request', 'push', 'merge_queue'], { description: 'How the change landed.' })
export const Deviations = Type.Array(defineDeviationName(), {
  description: 'How the change deviates from a reviewed and checked merge.',
})

/** The fields of a change record (`ChangeRecord`), except its deviations. */
export const ChangeRecordFields = {
  version: Type.Literal(1, { description: 'The version of the format of the record.' }),
  id: defineText('The id of the change.'),
  repository: Closed(
    {
      provider: defineText('The code host: `github`, `gitlab`, `bitbucket` or `azure`.'),
      host: defineText('The host name of the code host.'),
      id: defineText('The id of the repository on the code host.'),
      full_name: defineText('The repository as `owner/name` when the record was written.'),
    },
    { description: 'The repository of the change.' },
  ),
  branch: defineText('The tracked branch that the change landed on, without `refs/heads/`.'),
  landed_by: LandedBy,
  landed_at: defineTime('When the change landed.'),
  commits: Commits,
  pull_request: Nullable(RecordPullRequest, { description: 'The pull request. Null for a push.' }),
  pusher: RecordPusher,
  forced: flag('Whether the push replaced commits of the branch.'),
  reviews: Type.Array(Review, { description: 'The reviews of the pull request.' }),
  branch_rules: Nullable(Rules, { description: 'What the rules of the branch required. Null if they are unknown.' }),
  checks: Type.Array(Check, {
    description: 'The newest result of each check of the newest commit of the pull request and of the landed commit.',
  }),
  runs: Type.Array(Run, { description: 'The pipeline runs of the landed commit.' }),
  code_owners: Nullable(CodeOwners, {
    description: 'The code owners of the changed files. Null for a push, or if no CODEOWNERS file is known.',
  }),
  security: Nullable(Security, {
    description: 'The security state when the change landed. Null if no scanner had reported on the tracked branch.',
  }),
}

/** The record of a change (provenance.md §1). */
export const ChangeRecordSchema = Closed(
  { ...ChangeRecordFields, deviations: Deviations },
  { description: 'The record of the change. It never changes.' },
)

/** The facts of an amendment. One of `review`, `check` and `run` is there. */
export const RecordFacts = Closed(
  {
    review: Type.Optional({ ...Review, description: 'The review.' }),
    check: Type.Optional({ ...Check, description: 'The result of a check.' }),
    run: Type.Optional({ ...Run, description: 'The result of a pipeline run.' }),
    deviations: Type.Array(defineDeviationName(), {
      description: 'All deviations of the change that are known with this fact.',
    }),
  },
  { description: 'The fact, in the form of the record.' },
)

export const AmendmentKind = OneOf(['review', 'check', 'run'], {
  description: 'What the fact is about. `facts` has a field of this name.',
})

/** The fields of an amendment's body. */
export const amendment = {
  change: defineText('The id of the change.'),
  at: defineTime('When the amendment was appended.'),
  kind: AmendmentKind,
  facts: RecordFacts,
}
