import type { FakeClock } from './fake-clock.ts'
import type { NewJob } from './stories/jobs.ts'
import type { Stories } from './stories/stories.ts'
import type { AlertType, Conclusion, EnvironmentRules, RuleAnswer } from './types.ts'

/** What tests of all hosts see of the objects of a story. Each host has its own. */
export type StoryRepository = {
  id: number
  name: string
  owner: { login: string }
  default_branch: string
  commits: ReadonlyMap<string, { sha: string }>
  refs: ReadonlyMap<string, string>
  statuses: readonly { context: string; state: string; description: string | null }[]
}
export type StoryCommit = { sha: string; message: string }
export type StoryPullRequest = { number: number }
export type StoryReview = { id: number }
export type StoryAlert = { number: number; type: AlertType; state: string }
export type StoryDeployment = { id: number; sha: string }

export type StoryRun = {
  readonly id: number
  readonly status: string
  deployment(job: string): StoryDeployment
  start(job: string): StoryRun
  finish(
    job: string,
    conclusion?: Conclusion,
    result?: {
      annotations?: { level: 'failure' | 'notice' | 'warning'; message: string; path?: string; line?: number }[]
      log?: string
      failedStep?: string
    },
  ): StoryRun
  cancel(): StoryRun
  rerun(actor: string, options?: { failedOnly?: boolean }): StoryRun
}

export type StoryRunFields = {
  workflow?: string | { name: string; path: string }
  branch?: string
  sha?: string
  /** One of `RunEvent`. */
  event?: string
  actor?: string
  title?: string
  pullRequest?: StoryPullRequest
  jobs?: NewJob[]
}

/** The stories of every host, in the same words. `Stories` is what new hosts use. */
export type HostStories = {
  readonly clock: FakeClock
  readonly ruleAnswers: readonly RuleAnswer[]
  addUser(login: string, fields?: { name?: string; email?: string }): { login: string }
  addRepository(fullName: string, fields?: { private?: boolean; defaultBranch?: string }): StoryRepository
  rename(repository: StoryRepository, name: string): void
  delete(repository: StoryRepository): void
  archive(repository: StoryRepository): void
  push(repository: StoryRepository, commit?: Parameters<Stories['push']>[1]): StoryCommit
  protectBranch(repository: StoryRepository, branch: string, rules: Parameters<Stories['protectBranch']>[2]): void
  openPullRequest(repository: StoryRepository, fields: Parameters<Stories['openPullRequest']>[1]): StoryPullRequest
  reviewPullRequest(
    repository: StoryRepository,
    pullRequest: StoryPullRequest,
    fields: Parameters<Stories['reviewPullRequest']>[2],
  ): StoryReview
  closePullRequest(repository: StoryRepository, pullRequest: StoryPullRequest, by?: string): void
  merge(
    repository: StoryRepository,
    pullRequest: StoryPullRequest,
    by?: string,
    method?: 'merge' | 'squash' | 'rebase',
  ): StoryCommit
  startRun(repository: StoryRepository, fields?: StoryRunFields): StoryRun
  addEnvironment(repository: StoryRepository, name: string, rules?: EnvironmentRules): unknown
  review(run: StoryRun, environment: string, state: 'approved' | 'rejected', by: string, comment?: string): void
  bypass(run: StoryRun, environment: string): void
  openAlert(repository: StoryRepository, fields: Parameters<Stories['openAlert']>[1]): StoryAlert
  fixAlert(alert: StoryAlert): void
  reopenAlert(alert: StoryAlert, by?: string): void
  /** `reason` is one of `DISMISS_REASONS`, for which hosts have their own words. */
  dismissAlert(alert: StoryAlert, reason: string, fields?: { by?: string; comment?: string }): void
}
