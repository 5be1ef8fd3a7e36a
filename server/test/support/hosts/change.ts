import type {
  Account,
  Alert,
  AnyDeployment,
  Comment,
  CommitStatus,
  Deployment,
  DeploymentStatus,
  GateKind,
  Job,
  PullRequest,
  Push,
  Repository,
  Review,
  Run,
  RunApproval,
} from './types.ts'

/** What has changed in the world, from which the fake of a host makes its webhooks. */
export type Change = {
  repository: Repository
  by: Account
  /** The name, default branch, title, tip or state before. */
  from?: string
} & (
  | {
      type: 'repository'
      action: 'created' | 'renamed' | 'deleted' | 'archived' | 'unarchived' | 'visibility' | 'default_branch'
    }
  | { type: 'push'; push: Push }
  | {
      type: 'pull_request'
      /** `pushed`: its branch has new commits. */
      action: 'opened' | 'pushed' | 'edited' | 'closed' | 'reopened' | 'merged'
      pullRequest: PullRequest
    }
  | { type: 'review'; action: 'submitted' | 'dismissed'; pullRequest: PullRequest; review: Review }
  /** The newest attempt has another status. `created`: the attempt is new. */
  | { type: 'run'; action: 'created' | 'changed' | 'completed'; run: Run }
  | { type: 'job'; run: Run; job: Job }
  | { type: 'deployment_created'; deployment: AnyDeployment }
  | { type: 'deployment'; deployment: AnyDeployment; status: DeploymentStatus }
  /** Our rule or the reviewers are asked. */
  | { type: 'gate'; deployment: Deployment; gate: GateKind }
  /** A reviewer has answered. */
  | { type: 'approval'; run: Run; approval: RunApproval }
  | { type: 'alert'; action: 'opened' | 'fixed' | 'dismissed' | 'reopened'; alert: Alert }
  | { type: 'commit_status'; status: CommitStatus }
  | { type: 'comment'; comment: Comment }
)
