import { type HostAlert, NO_DETAILS } from '../../src/codehosts/host-alert.ts'
import type { HostPullRequest, HostPush, HostReview } from '../../src/codehosts/host-change.ts'
import type { HostDeployment, HostDeploymentState, HostDeploymentStatus } from '../../src/codehosts/host-deployment.ts'
import type { HostRepository } from '../../src/codehosts/host-repository.ts'
import type { HostRun } from '../../src/codehosts/host-run.ts'
import { hostAccount, hostRepository, hostRun } from './host-objects.ts'
import type { HostState } from './paged-host.ts'

const DAY_MS = 86_400_000

/** What an account with a few repositories has: objects of the last days before `now`. */
export class AcmeHost {
  readonly #now: Date

  constructor(now: Date) {
    this.#now = now
  }

  repository(id: string, fields: Partial<HostRepository> = {}): HostRepository {
    const full_name = `acme/repo-${id}`
    return hostRepository({
      id,
      full_name,
      html_url: `https://github.com/${full_name}`,
      updated_at: this.ago(60),
      ...fields,
    })
  }

  run(repository: HostRepository, id: string, daysAgo: number, fields: Partial<HostRun> = {}): HostRun {
    const at = this.ago(daysAgo)
    const times = { created_at: at, started_at: at, completed_at: at, updated_at: at }
    return hostRun({ repository, id, status: 'success', ...times, ...fields })
  }

  deployment(repository: HostRepository, id: string, daysAgo: number): HostDeployment {
    const at = this.ago(daysAgo)
    return {
      repository,
      id,
      environment: 'production',
      ref: 'main',
      commit_sha: 'a'.repeat(40),
      run: null,
      creator: hostAccount(),
      description: null,
      created_at: at,
      updated_at: at,
    }
  }

  status(deployment: HostDeployment, id: string, state: HostDeploymentState, at: Date): HostDeploymentStatus {
    const nothing = { environment_url: null, log_url: null, job_id: null, creator: null }
    return { deployment, id, state, ...nothing, created_at: at }
  }

  alert(repository: HostRepository, type: HostAlert['type'], number: number, daysAgo: number): HostAlert {
    const at = this.ago(daysAgo)
    return {
      ...NO_DETAILS,
      repository,
      type,
      number,
      status: 'open',
      severity: 'high',
      title: 'An alert',
      url: null,
      detected_at: at,
      updated_at: at,
    }
  }

  pullRequest(
    repository: HostRepository,
    number: number,
    daysAgo: number,
    state: HostPullRequest['state'],
  ): HostPullRequest {
    const at = this.ago(daysAgo)
    return {
      repository,
      number,
      title: 'A change',
      url: null,
      author: hostAccount(),
      state,
      draft: false,
      head: { ref: 'topic', sha: 'b'.repeat(40), repository_id: repository.id },
      base: { ref: 'main', sha: 'a'.repeat(40) },
      merge_commit_sha: null,
      merged_by: null,
      merged_by_queue: false,
      created_at: at,
      merged_at: state === 'merged' ? at : null,
      closed_at: state === 'open' ? null : at,
      updated_at: at,
    }
  }

  review(pullRequest: HostPullRequest, id: string): HostReview {
    return {
      repository: pullRequest.repository,
      pull_request: pullRequest.number,
      id,
      reviewer: hostAccount(),
      state: 'approved',
      commit_sha: null,
      submitted_at: pullRequest.updated_at,
    }
  }

  push(repository: HostRepository, number: number, daysAgo: number): HostPush {
    const shaOf = (at: number) => `${at}`.padStart(40, '0')
    return {
      repository,
      ref: 'refs/heads/main',
      before: shaOf(number - 1),
      after: shaOf(number),
      forced: false,
      pusher: hostAccount(),
      by_merge_queue: false,
      commits: [],
      pushed_at: this.ago(daysAgo),
    }
  }

  /** Some of everything, in lists of several pages. */
  state(repositoryIds: readonly string[]): Partial<HostState> {
    const repositories = repositoryIds.map((id) => this.repository(id))
    const pullRequests = repositories.flatMap((repository) => [
      this.pullRequest(repository, 1, 3, 'open'),
      this.pullRequest(repository, 2, 5, 'merged'),
      this.pullRequest(repository, 3, 40, 'merged'),
    ])
    const deployments = repositories.flatMap((repository) =>
      [1, 2, 3].map((days) => this.deployment(repository, `${repository.id}${days}`, days)),
    )
    return {
      repositories,
      runs: repositories.flatMap((repository) =>
        [1, 2, 3, 4, 5].map((days) => this.run(repository, `${repository.id}${days}`, days)),
      ),
      deployments,
      statuses: deployments.map((deployment) =>
        this.status(deployment, `s${deployment.id}`, 'success', deployment.created_at),
      ),
      alerts: repositories.flatMap((repository) => [
        this.alert(repository, 'dependabot', 1, 400),
        this.alert(repository, 'code_scanning', 1, 2),
      ]),
      pullRequests,
      pushes: repositories.flatMap((repository) => [1, 2, 3].map((days) => this.push(repository, 10 - days, days))),
      reviews: pullRequests.map((pullRequest) =>
        this.review(pullRequest, `r${pullRequest.repository.id}${pullRequest.number}`),
      ),
    }
  }

  /** The time so many days ago. */
  ago(days: number): Date {
    return new Date(this.#now.getTime() - days * DAY_MS)
  }
}
