export type Ids = { id: number; uuid: string }

export type Account = Ids & {
  login: string
  type: 'person' | 'organization' | 'bot'
  name: string | null
  email: string
  created_at: Date
}

/** What repositories of an account are in, at hosts that group them. */
export type Project = Ids & { owner: Account; name: string; created_at: Date }

export type Commit = {
  sha: string
  message: string
  author: { name: string; email: string }
  /** The account of the author. Null if the address belongs to no account. */
  account: Account | null
  committer: { name: string; email: string }
  committerAccount: Account | null
  /** `valid`, `unsigned`, or why a signature is not accepted. */
  signature: string
  at: Date
  parents: string[]
  /** All files of the commit by path. */
  files: ReadonlyMap<string, string>
  changed: string[]
}

export type Repository = Ids & {
  /** The account that is connected: a group, workspace or organization. */
  owner: Account
  /** What stands between the owner and the name in `owner/sub/name`; empty for none. */
  path: string
  project: Project
  name: string
  /** Whole names: `owner/name`. */
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
  pushes: Push[]
  pullRequests: PullRequest[]
  workflows: Map<string, Workflow>
  /** Newest first. */
  runs: Run[]
  environments: Map<string, Environment>
  /** Newest first. */
  deployments: AnyDeployment[]
  alerts: Alert[]
  statuses: CommitStatus[]
  comments: Comment[]
  /** By branch. */
  rules: Map<string, BranchRules>
  /** The groups that wait in the merge queues of all branches, oldest first. */
  mergeQueue: MergeGroup[]
}

/** A change of a ref. `merge`: the pull request whose merge it is. */
export type Push = Ids & {
  ref: string
  before: string | null
  after: string | null
  forced: boolean
  pusher: Account
  /** Oldest first. */
  commits: Commit[]
  merge: PullRequest | null
  at: Date
}

export type Review = Ids & {
  user: Account
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  body: string
  commit_id: string
  submitted_at: Date
}

export type MergeMethod = 'merge' | 'squash' | 'rebase'

export type PullRequest = Ids & {
  number: number
  repository: Repository
  title: string
  description: string
  author: Account
  draft: boolean
  state: 'open' | 'closed' | 'merged'
  head: { ref: string; sha: string }
  base: { ref: string; sha: string }
  /** The tip of the base branch before the merge. Null until then. */
  merged_onto: string | null
  merge_commit_sha: string | null
  merge_method: MergeMethod | null
  merged_by: Account | null
  created_at: Date
  updated_at: Date
  merged_at: Date | null
  closed_at: Date | null
  closed_by: Account | null
  /** Oldest first. */
  reviews: Review[]
}

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

export type BranchRules = {
  /** Approvals that a pull request needs; without it, no pull request is required. */
  approvals?: number
  codeOwners?: boolean
  checks?: string[]
  signatures?: boolean
  mergeQueue?: boolean
  blocksForcePushes?: boolean
  blocksDeletion?: boolean
}

/** A pipeline definition. `number` counts its runs. */
export type Workflow = Ids & { name: string; path: string; created_at: Date; runs: number }

export type RunStatus = 'queued' | 'waiting' | 'in_progress' | 'completed'
export type Conclusion = 'success' | 'failure' | 'cancelled' | 'timed_out' | 'skipped' | 'neutral' | 'action_required'
export type RunEvent = 'push' | 'pull_request' | 'merge_group' | 'schedule' | 'manual' | 'release' | 'workflow'

export type Annotation = {
  level: 'notice' | 'warning' | 'failure'
  message: string
  title?: string
  path?: string
  line?: number
}

export type Job = Ids & {
  name: string
  /** The attempt in which it ran: an earlier one if it was taken over. */
  attempt: number
  needs: string[]
  /** The newest stage of its needs plus one, counted from 0. */
  stage: number
  environment: string | null
  environment_url: string | null
  deployment: Deployment | null
  /** Null until the jobs that it needs are finished. */
  status: RunStatus | null
  conclusion: Conclusion | null
  steps: { name: string; conclusion: Conclusion | null }[]
  created_at: Date
  /** When the jobs that it needs were finished. */
  begun_at: Date | null
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
  completed_at: Date | null
  jobs: Job[]
}

export type Run = Ids & {
  repository: Repository
  workflow: Workflow
  /** The number within the workflow. `index`: the number within the repository. */
  number: number
  index: number
  event: RunEvent
  branch: string
  sha: string
  title: string
  actor: Account
  pullRequest: PullRequest | null
  created_at: Date
  /** Oldest first; never empty. */
  attempts: Attempt[]
  /** The answers of reviewers, oldest first. */
  approvals: RunApproval[]
}

export type RunApproval = Ids & {
  deployment: Deployment
  state: 'approved' | 'rejected'
  user: Account
  comment: string
  at: Date
}

/** `ours`: our own rule holds deployments. Hosts show it as what they have for it. */
export type EnvironmentRules = {
  /** Logins of people, and names of teams as `@team`. */
  reviewers?: string[]
  ours?: boolean
  branches?: string[]
  /** Slugs of other Apps whose rules hold deployments. */
  apps?: string[]
  waitMinutes?: number
}

export type Environment = Ids & {
  name: string
  created_at: Date
  reviewers: ({ type: 'person'; account: Account } | ({ type: 'team'; name: string } & Ids))[]
  ours: boolean
  /** Branches that may deploy; null if all may. */
  branches: string[] | null
  apps: (Ids & { slug: string })[]
  waitMinutes: number
}

export type GateKind = 'timer' | 'reviewers' | 'ours' | `app ${string}`
export type GateState = 'pending' | 'approved' | 'rejected'

export type DeploymentState = 'waiting' | 'queued' | 'in_progress' | 'success' | 'failure' | 'cancelled' | 'inactive'

export type DeploymentStatus = Ids & { state: DeploymentState; creator: Account; created_at: Date }

export type Deployment = Ids & {
  /** Counts the deployments of the repository. */
  number: number
  repository: Repository
  run: Run
  job: Job
  attempt: number
  environment: Environment
  sha: string
  ref: string
  creator: Account
  created_at: Date
  updated_at: Date
  /** Oldest first; never empty. */
  statuses: DeploymentStatus[]
  gates: Map<GateKind, GateState>
}

/** A deployment that another tool made with the API of the host. */
export type ApiDeployment = Omit<Deployment, 'run' | 'job' | 'attempt'> & { run: null; job: null; attempt: null }

export type AnyDeployment = Deployment | ApiDeployment

/** What our program answered for our rule, or wrote meanwhile (`state` is null). */
export type RuleAnswer = {
  run_id: number
  environment: string
  state: 'approved' | 'rejected' | null
  comment: string | null
}

export type AlertType = 'code_scanning' | 'dependabot' | 'secret_scanning'

export type Alert = Ids & {
  type: AlertType
  /** Counts the alerts of a type in a repository. */
  number: number
  repository: Repository
  state: 'open' | 'fixed' | 'dismissed'
  created_at: Date
  updated_at: Date
  fixed_at: Date | null
  dismissal: { by: Account; at: Date; reason: string; comment: string | null } | null
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
  /** Dependencies. */
  ecosystem: string
  package: string
  vulnerableVersions: string
  patchedVersion: string | null
  ghsa: string
  cve: string | null
  cvss: { score: number; vector: string }
  /** Secrets. */
  secretType: string
  secretName: string
  secret: string
  validity: 'active' | 'inactive' | 'unknown'
}

export type CommitStatus = Ids & {
  sha: string
  state: 'failure' | 'pending' | 'success'
  context: string
  description: string | null
  target_url: string | null
  creator: Account
  created_at: Date
  updated_at: Date
}

export type CommentTarget =
  | { type: 'commit'; sha: string }
  | { type: 'pull_request'; number: number }
  | { type: 'deployment'; id: number }
  | { type: 'run'; id: number }

export type Comment = Ids & { target: CommentTarget; by: Account; text: string; at: Date }
