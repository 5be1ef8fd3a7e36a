import type { FakeClock } from '../fake-clock.ts'
import type {
  Account,
  Alert,
  BranchRules,
  Commit,
  Environment,
  EnvironmentRules,
  MergeMethod,
  PullRequest,
  Repository,
  Review,
  RuleAnswer,
} from '../types.ts'
import type { World } from '../world.ts'
import { dismissAlert, fixAlert, type NewAlert, openAlert, reopenAlert } from './alerts.ts'
import { type NewCommit, push } from './commits.ts'
import { environmentOf, setEnvironmentRules } from './deployments.ts'
import { bypass, review, waitingDeployment } from './gates.ts'
import { merge } from './merges.ts'
import {
  close,
  dismissReview,
  type NewPullRequest,
  openPullRequest,
  reopen,
  retitle,
  reviewPullRequest,
} from './pull-requests.ts'
import {
  addRepository,
  archive,
  deleteRepository,
  type NewRepository,
  rename,
  setDefaultBranch,
  setVisibility,
} from './repositories.ts'
import { RunStory } from './run-story.ts'
import { createRun, type NewRun } from './runs.ts'

/** What can happen at a host, in the words of a test. */
export class Stories<W extends World = World> {
  readonly world: W

  constructor(world: W) {
    this.world = world
  }

  get clock(): FakeClock {
    return this.world.clock
  }

  get ruleAnswers(): readonly RuleAnswer[] {
    return this.world.ruleAnswers
  }

  addUser(login: string, fields: Partial<Account> = {}): Account {
    return this.world.addAccount({ login, type: 'person', ...fields })
  }

  /** The repository and the account that owns it, if they are new. */
  addRepository(fullName: string, fields: NewRepository = {}): Repository {
    return addRepository(this.world, fullName, fields)
  }

  rename(repository: Repository, name: string): void {
    rename(this.world, repository, name)
  }

  delete(repository: Repository): void {
    deleteRepository(this.world, repository)
  }

  archive(repository: Repository): void {
    archive(this.world, repository, true)
  }

  unarchive(repository: Repository): void {
    archive(this.world, repository, false)
  }

  setVisibility(repository: Repository, visibility: 'private' | 'public'): void {
    setVisibility(this.world, repository, visibility)
  }

  setDefaultBranch(repository: Repository, branch: string): void {
    setDefaultBranch(this.world, repository, branch)
  }

  /** Pushes commits. Returns the last one. */
  push(repository: Repository, commit: NewCommit = {}): Commit {
    return push(this.world, repository, commit)
  }

  protectBranch(repository: Repository, branch: string, rules: BranchRules): void {
    repository.rules.set(branch, rules)
  }

  openPullRequest(repository: Repository, fields: NewPullRequest): PullRequest {
    return openPullRequest(this.world, repository, fields)
  }

  reviewPullRequest(
    _repository: Repository,
    pullRequest: PullRequest,
    fields: { by: string; state: Review['state']; body?: string },
  ): Review {
    return reviewPullRequest(this.world, pullRequest, fields)
  }

  dismissReview(_repository: Repository, pullRequest: PullRequest, one: Review): void {
    dismissReview(this.world, pullRequest, one)
  }

  closePullRequest(_repository: Repository, pullRequest: PullRequest, by = 'ada'): void {
    close(this.world, pullRequest, by)
  }

  reopenPullRequest(_repository: Repository, pullRequest: PullRequest, by = 'ada'): void {
    reopen(this.world, pullRequest, by)
  }

  retitle(_repository: Repository, pullRequest: PullRequest, title: string): void {
    retitle(this.world, pullRequest, title)
  }

  /** Merges a pull request. Returns the commit that its base branch then has. */
  merge(_repository: Repository, pullRequest: PullRequest, by = 'ada', method: MergeMethod = 'merge'): Commit {
    return merge(this.world, pullRequest, { by, method })
  }

  startRun(repository: Repository, fields: NewRun = {}): RunStory {
    return new RunStory(this.world, createRun(this.world, repository, fields))
  }

  /** Creates an environment, or replaces its rules. */
  addEnvironment(repository: Repository, name: string, rules: EnvironmentRules = {}): Environment {
    const environment = environmentOf(this.world, repository, name)
    setEnvironmentRules(this.world, environment, rules)
    return environment
  }

  /** A reviewer approves or rejects what a run deploys to an environment. */
  review(run: RunStory, environment: string, state: 'approved' | 'rejected', by: string, comment = ''): void {
    review(this.world, waitingDeployment(run.run, environment), { state, by, comment })
  }

  /** An administrator starts the waiting job without the approvals that it needs. */
  bypass(run: RunStory, environment: string): void {
    bypass(this.world, waitingDeployment(run.run, environment))
  }

  openAlert(repository: Repository, fields: NewAlert): Alert {
    return openAlert(this.world, repository, fields)
  }

  fixAlert(alert: Alert): void {
    fixAlert(this.world, alert)
  }

  reopenAlert(alert: Alert, by = 'ada'): void {
    reopenAlert(this.world, alert, this.world.account(by))
  }

  dismissAlert(alert: Alert, reason: string, fields: { by?: string; comment?: string } = {}): void {
    const { by = 'ada', comment = null } = fields
    dismissAlert(this.world, alert, this.world.account(by), { reason, comment })
  }
}
