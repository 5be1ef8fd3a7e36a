import type { FakeClock } from '../../hosts/fake-clock.ts'
import type {
  Account,
  Alert,
  AlertDetails,
  AlertType,
  Deployment,
  DeploymentState,
  Environment,
  Installation,
  Repository,
  Run,
} from '../types.ts'
import type { AppDeliveries, Delivery } from '../webhooks/deliveries.ts'
import type { RuleAnswer } from '../webhooks/world.ts'
import { dismissAlert, fixAlert, openAlert, reopenAlert } from './alerts.ts'
import { ChangeStories } from './change-stories.ts'
import { createForeignDeployment, setDeploymentState } from './deployments.ts'
import { type EnvironmentRules, environmentOf, setEnvironmentRules } from './environments.ts'
import { bypass, decideGate, review, waitingDeployment } from './gates.ts'
import { acceptPermissions, changeSelection, install, renameAccount, suspend, uninstall } from './installations.ts'
import {
  archiveRepository,
  createRepository,
  deleteRepository,
  type NewRepository,
  renameRepository,
  setDefaultBranch,
  setVisibility,
  transferRepository,
} from './repositories.ts'
import { RunStory } from './run-story.ts'
import { createRun, type NewRun } from './runs.ts'

/** What can happen at GitHub, in the words of a test. */
export class Stories extends ChangeStories {
  get clock(): FakeClock {
    return this.world.state.clock
  }

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

  /** The answers of our protection rule, oldest first. */
  get ruleAnswers(): readonly RuleAnswer[] {
    return this.world.ruleAnswers
  }

  get apiUrl(): string {
    return this.world.api
  }

  ping(): void {
    this.world.ping()
  }

  addUser(login: string, fields: Partial<Account> = {}): Account {
    return this.world.state.addAccount({ login, type: 'User', ...fields })
  }

  /** The repository and the organization that owns it, if they are new. */
  addRepository(fullName: string, fields: NewRepository = {}): Repository {
    return createRepository(this.world, fullName, fields)
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

  rename(repository: Repository, name: string): void {
    renameRepository(this.world, repository, name)
  }

  transfer(repository: Repository, login: string): void {
    transferRepository(this.world, repository, login)
  }

  delete(repository: Repository): void {
    deleteRepository(this.world, repository)
  }

  archive(repository: Repository): void {
    archiveRepository(this.world, repository, true)
  }

  unarchive(repository: Repository): void {
    archiveRepository(this.world, repository, false)
  }

  setVisibility(repository: Repository, visibility: 'private' | 'public'): void {
    setVisibility(this.world, repository, visibility)
  }

  setDefaultBranch(repository: Repository, branch: string): void {
    setDefaultBranch(this.world, repository, branch)
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
    const user = this.world.state.account(by)
    review(this.world, waitingFor(run.run, environment), { state, user, comment })
  }

  /** The protection rule of another App decides. */
  answerOtherRule(run: RunStory, environment: string, slug: string, state: 'approved' | 'rejected'): void {
    decideGate(this.world, waitingFor(run.run, environment), slug, state)
  }

  /** The wait timer of an environment ends. */
  endWait(run: RunStory, environment: string): void {
    decideGate(this.world, waitingFor(run.run, environment), 'wait_timer', 'approved')
  }

  /** An administrator starts the waiting job without the approvals that it needs. */
  bypass(run: RunStory, environment: string, by = 'root', comment = ''): void {
    bypass(this.world, waitingFor(run.run, environment), this.world.state.account(by), comment)
  }

  /** A deployment that another tool creates with the API, without a run. */
  createDeployment(
    repository: Repository,
    fields: { environment: string; sha: string; ref?: string; by?: string },
  ): Deployment {
    const { environment, sha, ref = repository.default_branch, by = 'ada' } = fields
    const creator = this.world.state.account(by)
    return createForeignDeployment(this.world, repository, { environment, sha, ref, creator })
  }

  setDeploymentState(deployment: Deployment, state: DeploymentState): void {
    setDeploymentState(this.world, deployment, state)
  }

  openAlert(repository: Repository, fields: { type: AlertType } & Partial<AlertDetails>): Alert {
    return openAlert(this.world, repository, fields)
  }

  fixAlert(alert: Alert): void {
    fixAlert(this.world, alert)
  }

  reopenAlert(alert: Alert, by = 'ada'): void {
    reopenAlert(this.world, alert, this.world.state.account(by))
  }

  dismissAlert(alert: Alert, reason: string, fields: { by?: string; comment?: string } = {}): void {
    const { by = 'ada', comment = null } = fields
    dismissAlert(this.world, alert, this.world.state.account(by), { reason, comment })
  }

  /** Somebody confirmed the manifest of a new App: the code that GitHub sends them back with. */
  confirmManifest(manifest: object): string {
    const code = `code${this.world.state.newId()}`
    this.world.state.manifestCodes.set(code, manifest)
    return code
  }
}

function waitingFor(run: Run, environment: string): Deployment {
  const deployment = waitingDeployment(run, environment)
  if (deployment === undefined) throw new Error(`Run ${run.id} does not wait for ${environment}`)
  return deployment
}
