import { type TProperties, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { DEVIATIONS } from './change-record.ts'

const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Flag = (description: string) => Type.Boolean({ description })
const Time = (description: string) => ({ ...Timestamp, description })
const Sha = (description: string) => Type.String({ pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$', description })

function Account(description: string) {
  return Closed(
    {
      id: Text('The id of the account on the code host.'),
      login: Text('The login of the account.'),
      is_bot: Flag('Whether the account is a bot.'),
    },
    { description },
  )
}

function Person(description: string) {
  return Closed(
    {
      name: Text('The name in the commit.'),
      email: Nullable(Text('The email address in the commit.')),
      id: Nullable(Text('The id of the account. Null if the host knows no account for the address.')),
      login: Nullable(Text('The login of the account. Null if the host knows no account for the address.')),
    },
    { description },
  )
}

const Commit = Closed({
  sha: Sha('The SHA of the commit.'),
  author: Person('Who wrote the commit.'),
  committer: Person('Who created the commit.'),
  signature: Nullable(
    Closed(
      {
        verified: Flag('Whether the code host has verified the signature.'),
        reason: Text('The reason that the code host gives.'),
      },
      { description: 'The signature, as the code host states it. Null if the host did not say.' },
    ),
  ),
})

const Commits = Closed(
  {
    head: Sha('The last commit of the pull request or push.'),
    base: Nullable(Sha('The commit that the change started from. Null if it is unknown.')),
    merge: Sha('The commit on the branch that the change ends with.'),
    list: Type.Array(Commit, { description: 'The commits, oldest first.' }),
    complete: Flag('False if the code host did not list all commits.'),
  },
  { description: 'The commits of the change.' },
)

export const RecordPullRequest = Closed(
  {
    number: Type.Integer({ minimum: 1, description: 'The number of the pull request.' }),
    title: Text('The title.'),
    url: Nullable(Text('The URL of the pull request.')),
    author: Nullable(Account('Who opened the pull request. Null if the account is unknown.')),
    opened_at: Time('When the pull request was opened.'),
    merged_at: Time('When the pull request was merged.'),
    merged_by: Nullable(Account('Who merged the pull request. Null if the account is unknown.')),
  },
  { description: 'The pull request. Null for a direct push.' },
)

/** What every statement shows of a review. */
export const review = {
  reviewer: Nullable(Account('Who reviewed. Null if the account is unknown.')),
  state: OneOf(['approved', 'changes_requested', 'commented', 'dismissed'], {
    description: 'The state of the review.',
  }),
  commit_sha: Nullable(Sha('The commit that was reviewed. Null if it is unknown.')),
  submitted_at: Time('When the review was submitted.'),
  stale: Flag('Whether commits followed the one that was reviewed.'),
} satisfies TProperties

const Review = Closed({ id: Text('The id of the review on the code host.'), ...review })

const Check = Closed({
  name: Text('The name of the check.'),
  source: Text('What the code host calls the kind of check, such as `check_run` or `status`.'),
  status: Text('The status, such as `success`.'),
  required: Nullable(Flag('Whether the branch rules require the check. Null if the rules are unknown.')),
  commit_sha: Sha('The commit that was checked.'),
  url: Nullable(Text('The URL of the check.')),
  completed_at: Nullable(Time('When the check finished. Null until then.')),
})

const Run = Closed({
  id: Text('The id of the run.'),
  pipeline_name: Text('The name of the workflow.'),
  attempt: Type.Integer({ minimum: 1, description: 'The newest attempt at the time of the record.' }),
  status: Text('The status of the attempt.'),
  url: Nullable(Text('The URL of the run.')),
  completed_at: Nullable(Time('When the attempt finished. Null until then.')),
})

const Rules = Closed(
  {
    requires_pull_request: Flag('Whether commits must come from pull requests.'),
    required_approvals: Count('How many approvals a pull request must have.'),
    requires_code_owner_review: Flag('Whether code owners must approve.'),
    required_checks: Type.Array(Type.String(), { description: 'The names of the required checks.' }),
    requires_signatures: Flag('Whether commits must have verified signatures.'),
    blocks_force_pushes: Flag('Whether commits of the branch cannot be replaced.'),
    blocks_deletion: Flag('Whether the branch cannot be deleted.'),
    requires_merge_queue: Flag('Whether pull requests must be merged by a merge queue.'),
  },
  { description: 'What the rules of the branch required. Null if they are unknown.' },
)

const Owners = Closed({
  pattern: Text('The pattern of the CODEOWNERS file.'),
  owners: Type.Array(Type.String(), { description: 'The owners that the file names.' }),
  files: Count('How many changed files the pattern owns.'),
  approved_by: Type.Array(Type.String(), { description: 'The owners that approved the change.' }),
  satisfied: Nullable(Flag('Whether an owner approved. Null if unknown, because an owner is a team or an address.')),
})

const severities = {
  critical: Count('Critical issues.'),
  high: Count('Issues of high severity.'),
  medium: Count('Issues of medium severity.'),
  low: Count('Issues of low severity.'),
  info: Count('Informational issues.'),
}
const known_exploited = Count('Issues with a vulnerability that is known to be exploited (CISA KEV).')

const Security = Closed(
  {
    open: Closed(severities, { description: 'The open issues of the branch, by severity.' }),
    known_exploited,
    added: Nullable(
      Closed({ ...severities, known_exploited }, { description: 'The issues that the change adds. Null for a push.' }),
    ),
  },
  { description: 'The security state at the merge. Null if no scanner has reported on the repository.' },
)

export const Deviations = Type.Array(OneOf(DEVIATIONS), {
  description: 'How the change deviates from a reviewed and checked merge.',
})

export const RecordPusher = Account('Who pushed the commits. Null for a pull request.')
export const LandedBy = OneOf(['pull_request', 'push', 'merge_queue'], {
  description: 'How the change came to the branch.',
})

/** The record of a change (provenance.md §1). */
export const ChangeRecordSchema = Closed(
  {
    version: Type.Literal(1, { description: 'The version of the form of the record.' }),
    id: Text('The id of the change.'),
    repository: Closed(
      {
        provider: Text('The code host, such as `github`.'),
        host: Text('The host name.'),
        id: Text('The id of the repository on the code host.'),
        full_name: Text('The name as `owner/name`.'),
      },
      { description: 'The repository, by its name at the time of the record.' },
    ),
    branch: Text('The tracked branch.'),
    landed_by: LandedBy,
    landed_at: Time('When the change landed.'),
    commits: Commits,
    pull_request: Nullable(RecordPullRequest),
    pusher: Nullable(RecordPusher),
    forced: Flag('Whether the push replaced commits of the branch.'),
    reviews: Type.Array(Review, { description: 'The reviews of the pull request.' }),
    branch_rules: Nullable(Rules),
    checks: Type.Array(Check, { description: 'The checks of the commits.' }),
    runs: Type.Array(Run, { description: 'The pipeline runs of the landed commit.' }),
    code_owners: Nullable(
      Closed(
        {
          path: Text('The path of the CODEOWNERS file.'),
          commit_sha: Sha('The commit of the file.'),
          rules: Type.Array(Owners, { description: 'The patterns that own changed files.' }),
        },
        { description: 'The code owners of the changed files. Null if no CODEOWNERS file is known.' },
      ),
    ),
    security: Nullable(Security),
    deviations: Deviations,
  },
  { description: 'The record of the change. It never changes.' },
)

export const AmendmentKind = OneOf(['review', 'check', 'run'], { description: 'The kind of the late fact.' })

/** The fields of an amendment's body. */
export const amendment = {
  change: Text('The id of the change.'),
  at: Time('When the amendment was appended.'),
  kind: AmendmentKind,
  facts: Closed(
    {
      review: Type.Optional({ ...Review, description: 'The late review.' }),
      check: Type.Optional({ ...Check, description: 'The late check.' }),
      run: Type.Optional({ ...Run, description: 'The late run.' }),
      deviations: Deviations,
    },
    { description: 'The late fact, in the form of the record, and the deviations with it.' },
  ),
}
