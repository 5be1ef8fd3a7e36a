import { addDeployment, environmentOf, newDeployment, setDeploymentState } from '../../hosts/stories/deployments.ts'
import { addApproval, decideGate, waitingDeployment } from '../../hosts/stories/gates.ts'
import type { RunStory } from '../../hosts/stories/run-story.ts'
import { Stories } from '../../hosts/stories/stories.ts'
import type {
  AnyDeployment,
  ApiDeployment,
  Commit,
  DeploymentState,
  MergeGroup,
  MergeMethod,
  PullRequest,
  Repository,
} from '../../hosts/types.ts'
import type { Installation } from '../types.ts'
import type { AppDeliveries, Delivery } from '../webhooks/deliveries.ts'
import type { GitHubWorld } from '../world.ts'
import {
  acceptPermissions,
  changeSelection,
  install,
  renameAccount,
  suspend,
  transfer,
  uninstall,
} from './installations.ts'
import { dequeue, enqueue, mergeGroup } from './merge-queue.ts'

/** What can happen at GitHub alone, in the words of a test. */
export class GitHubStories extends Stories<GitHubWorld> {
  /** What GitHub's description says against requests, answers and payloads. */
  get violations(): string[] {
    return this.world.violations
  }

  get webhooks(): AppDeliveries {
    return this.world.deliveries
  }

  get deliveries(): readonly Delivery[] {
    return this.world.deliveries.all
  }

  get apiUrl(): string {
    return this.world.api
  }

  ping(): void {
    this.world.ping()
  }

  install(login: string, repositories: Repository[] | 'all' = 'all'): Installation {
    return install(this.world, login, repositories)
  }

  suspend(installation: Installation): void {
    suspend(this.world, installation, true)
  }

  unsuspend(installation: Installation): void {
    suspend(this.world, installation, false)
  }

  uninstall(installation: Installation): void {
    uninstall(this.world, installation)
  }

  changeSelection(installation: Installation, change: { add?: Repository[]; remove?: Repository[] }): void {
    changeSelection(this.world, installation, change)
  }

  acceptPermissions(installation: Installation): void {
    acceptPermissions(this.world, installation)
  }

  renameAccount(installation: Installation, login: string): void {
    renameAccount(this.world, installation, login)
  }

  /** GitHub takes a repository down: every request about it is answered with this status. */
  block(repository: Repository, status: 403 | 451 | null): void {
    if (status === null) this.world.blocked.delete(repository)
    else this.world.blocked.set(repository, status)
  }

  transfer(repository: Repository, login: string): void {
    transfer(this.world, repository, login)
  }

  /**
   * Adds a pull request to the merge queue. Workflows run for the `branch` and `head` of its group.
   */
  enqueue(_repository: Repository, pullRequest: PullRequest, by = 'ada', method: MergeMethod = 'merge'): MergeGroup {
    return enqueue(this.world, pullRequest, { by, method })
  }

  /** The merge queue merges a group, and the groups before it, by one push. */
  mergeGroup(_repository: Repository, group: MergeGroup): Commit {
    return mergeGroup(this.world, group)
  }

  /** Removes a pull request from the merge queue. */
  dequeue(_repository: Repository, group: MergeGroup, by = 'ada'): void {
    dequeue(this.world, group, by)
  }

  /** The protection rule of another App decides. */
  answerOtherRule(run: RunStory, environment: string, slug: string, state: 'approved' | 'rejected'): void {
    decideGate(this.world, waitingDeployment(run.run, environment), `app ${slug}`, state)
  }

  /** The wait timer of an environment ends. */
  endWait(run: RunStory, environment: string): void {
    decideGate(this.world, waitingDeployment(run.run, environment), 'timer', 'approved')
  }

  /** GitHub remembers a bypass as an approval. */
  override bypass(run: RunStory, environment: string, by = 'root', comment = ''): void {
    addApproval(this.world, waitingDeployment(run.run, environment), { state: 'approved', by, comment })
    super.bypass(run, environment)
  }

  /** A deployment that another tool creates with the API, without a run. */
  createDeployment(
    repository: Repository,
    fields: { environment: string; sha: string; ref?: string; by?: string },
  ): ApiDeployment {
    const { sha, ref = repository.default_branch, by = 'ada' } = fields
    const environment = environmentOf(this.world, repository, fields.environment)
    const about = { environment, sha, ref, creator: this.world.account(by), gates: new Map() }
    const deployment = { ...newDeployment(this.world, repository), run: null, job: null, attempt: null, ...about }
    addDeployment(this.world, deployment)
    return deployment
  }

  setDeploymentState(deployment: AnyDeployment, state: DeploymentState): void {
    setDeploymentState(this.world, deployment, state)
  }

  /** Somebody confirmed the manifest of a new App: the code that GitHub sends them back with. */
  confirmManifest(manifest: object): string {
    const code = `code${this.world.newIds().id}`
    this.world.manifestCodes.set(code, manifest)
    return code
  }
}
