import type { KeyObject } from 'node:crypto'

export type Account = {
  id: number
  login: string
  type: 'User' | 'Organization' | 'Bot'
  name: string | null
  email: string | null
  created_at: Date
}

export type App = {
  id: number
  slug: string
  name: string
  owner: Account
  created_at: Date
  /** Tokens that one of these keys signed are accepted. */
  publicKeys: KeyObject[]
  webhookSecret: string
  /** The newest private key, in PEM. */
  privateKey: string
}

export type Installation = {
  id: number
  account: Account
  selection: 'all' | 'selected'
  /** Ids of the selected repositories. */
  selected: Set<number>
  suspended_at: Date | null
  created_at: Date
  updated_at: Date
  covers(repository: Repository): boolean
}

export type Commit = {
  sha: string
  message: string
  author: { name: string; email: string }
  /** The account of the author. Null if the address belongs to no account. */
  account: Account | null
  committer: { name: string; email: string }
  committerAccount: Account | null
  /** GitHub's reason for its verdict on the signature; only `valid` is verified. */
  signature: string
  at: Date
  parents: string[]
  /** All files of the commit by path. */
  files: ReadonlyMap<string, string>
  changed: string[]
}

export type Repository = {
  id: number
  owner: Account
  name: string
  formerNames: string[]
  private: boolean
  archived: boolean
  deleted: boolean
  default_branch: string
  created_at: Date
  updated_at: Date
  pushed_at: Date
  commits: Map<string, Commit>
  /** The newest commit by ref: `refs/heads/main`. */
  refs: Map<string, string>
  pullRequests: PullRequest[]
  workflows: Map<string, Workflow>
  runs: Run[]
  environments: Map<string, Environment>
  deployments: Deployment[]
  alerts: Alert[]
  statuses: CommitStatus[]
  /** The rules of rulesets by branch. */
  rules: Map<string, object[]>
  /** The groups that wait in the merge queues of all branches, oldest first. */
  mergeQueue: MergeGroup[]
  /** What happened to the branches and tags, newest first. */
  activities: Activity[]
}

export type Review = {
  id: number
  user: Account
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  body: string
  commit_id: string
  submitted_at: Date
}

export type PullRequest = {
  id: number
  number: number
  title: string
  author: Account
  draft: boolean
  state: 'open' | 'closed'
  head: { ref: string; sha: string }
  base: { ref: string; sha: string }
  /** The tip of the base branch before the merge. Null until then. */
  merged_onto: string | null
  merge_commit_sha: string | null
  merged_by: Account | null
  created_at: Date
  updated_at: Date
  merged_at: Date | null
  closed_at: Date | null
  reviews: Review[]
}

export type ActivityType = 'push' | 'force_push' | 'pr_merge' | 'merge_queue_merge'

export type Activity = {
  id: number
  ref: string
  before: string | null
  after: string | null
  activity_type: ActivityType | 'branch_creation' | 'branch_deletion'
  pusher: Account
  at: Date
}

export type MergeMethod = 'merge' | 'squash' | 'rebase'

/** A pull request as the merge queue would merge it: on the groups before it. */
export type MergeGroup = {
  pullRequest: PullRequest
  /** Login of the account that added it to the queue. */
  by: string
  method: MergeMethod
  /** The branch of the group, for which workflows run. */
  branch: string
  base_sha: string
  head: Commit
}

export type Workflow = { id: number; name: string; path: string; created_at: Date; runs: number }

export type RunStatus = 'queued' | 'waiting' | 'in_progress' | 'completed'
export type Conclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required'
  | 'stale'
  | 'startup_failure'

export type Annotation = {
  level: 'notice' | 'warning' | 'failure'
  message: string
  title?: string
  path?: string
  line?: number
}

export type Job = {
  id: number
  name: string
  attempt: number
  needs: string[]
  environment: string | null
  environment_url: string | null
  deployment: Deployment | null
  /** Null until the jobs that it needs are finished. */
  status: RunStatus | null
  conclusion: Conclusion | null
  steps: { name: string; conclusion: Conclusion | null }[]
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  annotations: Annotation[]
  log: string | null
}

export type Attempt = {
  number: number
  status: RunStatus
  conclusion: Conclusion | null
  actor: Account
  started_at: Date
  updated_at: Date
  jobs: Job[]
}

export type Run = {
  id: number
  check_suite_id: number
  repository: Repository
  workflow: Workflow
  number: number
  event: string
  branch: string | null
  sha: string
  title: string
  actor: Account
  pullRequests: PullRequest[]
  created_at: Date
  /** Oldest first; never empty. */
  attempts: Attempt[]
  /** The answers of reviewers, newest first. */
  approvals: { environment: string; state: 'approved' | 'rejected'; user: Account; comment: string }[]
}

export type Reviewer = { type: 'User'; account: Account } | { type: 'Team'; id: number; slug: string; name: string }

export type CustomRule = { id: number; app: { id: number; slug: string; ours: boolean } }

export type Environment = {
  id: number
  name: string
  created_at: Date
  reviewers: Reviewer[]
  /** Minutes. */
  waitTimer: number
  /** Branches that may deploy; null if all may. */
  branches: string[] | null
  customRules: CustomRule[]
}

export type GateState = 'pending' | 'approved' | 'rejected'

export type DeploymentState =
  | 'waiting'
  | 'queued'
  | 'pending'
  | 'in_progress'
  | 'success'
  | 'failure'
  | 'error'
  | 'inactive'

export type DeploymentStatus = {
  id: number
  state: DeploymentState
  creator: Account
  created_at: Date
  environment_url: string
  log_url: string
}

export type Deployment = {
  id: number
  repository: Repository
  run: Run | null
  job: Job | null
  attempt: number | null
  environment: string
  sha: string
  ref: string
  creator: Account
  description: string | null
  created_at: Date
  updated_at: Date
  /** Oldest first. */
  statuses: DeploymentStatus[]
  /** What has to be approved, by the kind of rule; custom rules by the slug of their App. */
  gates: Map<string, GateState>
}

export type AlertType = 'code_scanning' | 'dependabot' | 'secret_scanning'

export type Alert = {
  type: AlertType
  number: number
  repository: Repository
  state: 'open' | 'fixed' | 'dismissed'
  created_at: Date
  updated_at: Date
  fixed_at: Date | null
  dismissal: { by: Account; at: Date; reason: string; comment: string | null } | null
  /** What the type of alert has besides: the rule, the package, the secret. */
  details: AlertDetails
}

export type AlertDetails = {
  severity: 'low' | 'medium' | 'high' | 'critical'
  title: string
  description: string
  /** Code scanning. */
  rule: string
  tool: { name: string; version: string | null }
  cwes: string[]
  path: string
  line: number
  ref: string
  sha: string
  /** Dependabot. */
  ecosystem: string
  package: string
  vulnerableVersions: string
  patchedVersion: string | null
  ghsa: string
  cve: string | null
  cvss: { score: number; vector: string }
  /** Secret scanning. */
  secretType: string
  secretName: string
  secret: string
  validity: 'active' | 'inactive' | 'unknown'
}

export type CommitStatus = {
  id: number
  sha: string
  state: 'error' | 'failure' | 'pending' | 'success'
  context: string
  description: string | null
  target_url: string | null
  created_at: Date
}

/** How much there is to import. */
export type BulkSizes = {
  repositories: number
  runsPerRepository: number
  deploymentsPerRepository?: number
  alertsPerRepository?: number
}
