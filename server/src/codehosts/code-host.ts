import type { KeyObject } from 'node:crypto'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Log } from '../platform/log.ts'
import type { HostAlert, HostAlertName, HostAlertType } from './host-alert.ts'
import type {
  HostBranchRules,
  HostCodeOwners,
  HostCommitList,
  HostPullRequest,
  HostReview,
  ToldPush,
} from './host-change.ts'
import type {
  DecisionTarget,
  HostDeployment,
  HostDeploymentReview,
  HostDeploymentStatus,
  HostEnvironment,
  HostGateRequest,
  HostPendingDeployment,
} from './host-deployment.ts'
import type { HostEvent, ObjectChange } from './host-event.ts'
import type { HostAccount, HostRepository } from './host-repository.ts'
import type { HostAnnotation, HostCheck, HostCommit, HostJob, HostRun, HostWorkflow } from './host-run.ts'

/** The names of a repository that requests to its host need. */
export type RepositoryName = { id: string; full_name: string }

/**
 * A page of a host's list. `next` continues the list, in another process too. It is null after the
 * last page.
 */
export type HostPage<Item> = {
  items: Item[]
  next: string | null
  /** Identifies this version of the page in a later conditional request. */
  etag: string | null
  /** The host's answer, where it does not let us read the list: the page has no items then. */
  refusal?: HostRefusal
  /** Set if `changed_since` was answered: the list has what changed since then, and no more. */
  has_changes?: true
}

/** A list that may not be read looks like an empty one without a version. */
export function isDenied({ items, etag }: HostPage<unknown>): boolean {
  return items.length === 0 && etag === null
}

/** A page of a list, newest first, that ends before the first item that is older than `since`. */
export function truncatePage<Item extends { created_at: Date }>(page: HostPage<Item>, since?: Date): HostPage<Item> {
  const items = page.items.filter(({ created_at }) => since === undefined || created_at >= since)
  return { ...page, items, next: items.length < page.items.length ? null : page.next }
}

/** How a list is read: from `next` of the page before, and unless it still has this `etag`. */
export type ListOptions = {
  /** The oldest creation time. Lists that are sorted by the newest change ignore it. */
  since?: Date
  /** Asks for what changed since then. Hosts that cannot be asked list the newest items instead. */
  changed_since?: Date
  next?: string
  etag?: string
}

/** `not_modified`: the page still has the `etag` of the request. */
export type ListResult<Item> = HostPage<Item> | 'not_modified'

/** A version (blob SHA) of a file, and a commit that has it. */
export type HostFile = { path: string; commit_sha: string; blob: string }

/**
 * Reads what one connection may see. A read returns null if the object does not exist or may not be
 * read; it throws `HostUnavailable` if the host cannot be reached or limits our requests.
 */
export type HostReader = {
  listRepositories(options: ListOptions): Promise<ListResult<HostRepository>>
  readRepository(id: string): Promise<HostRepository | null>

  /** Runs created at or after `since`, newest first. */
  listRuns(repository: HostRepository, options: ListOptions): Promise<ListResult<HostRun>>
  /** One attempt of a run; the newest without `attempt`. */
  readRun(repository: HostRepository, runId: string, attempt?: number): Promise<HostRun | null>
  listJobs(repository: HostRepository, runId: string, attempt: number): Promise<HostJob[]>
  listAnnotations(repository: HostRepository, jobId: string): Promise<HostAnnotation[]>
  /** The end of a job's log, at most `bytesMax` of it; null if the log is gone. */
  readJobLog(repository: HostRepository, jobId: string, bytesMax: number): Promise<string | null>
  /** The commits of runs, with the version of each run's workflow file, in few requests. */
  readCommits(
    repository: HostRepository,
    commits: readonly { sha: string; workflow_path: string | null }[],
  ): Promise<HostCommit[]>
  /** The newest commit of a branch; null if there is no such branch. */
  readBranchHead(repository: HostRepository, branch: string): Promise<string | null>
  /**
   * The jobs of a workflow file, at hosts whose files have a syntax of their own. Null if the host
   * does not say.
   */
  readWorkflow?(repository: HostRepository, file: HostFile): Promise<HostWorkflow | null>
  /** The text of a file's version. */
  readFile(repository: HostRepository, file: HostFile): Promise<string | null>
  readAccount(login: string): Promise<HostAccount | null>

  listDeployments(repository: HostRepository, options: ListOptions): Promise<ListResult<HostDeployment>>
  readDeployment(repository: HostRepository, id: string): Promise<HostDeployment | null>
  /**
   * The requests of a deployment that waits for our rule now. Hosts that ask by a webhook are read
   * only where it may be lost.
   */
  listGateRequests(deployment: HostDeployment): Promise<HostGateRequest[]>
  /** All statuses of a deployment, oldest first. */
  listDeploymentStatuses(deployment: HostDeployment): Promise<HostDeploymentStatus[]>
  readEnvironment(repository: HostRepository, name: string): Promise<HostEnvironment | null>
  listPendingDeployments(repository: HostRepository, runId: string): Promise<HostPendingDeployment[]>
  /** The answers of reviewers to the deployments of a run. */
  listDeploymentReviews(repository: HostRepository, runId: string): Promise<HostDeploymentReview[]>

  /** Alerts, newest change first. */
  listAlerts(repository: HostRepository, type: HostAlertType, options: ListOptions): Promise<ListResult<HostAlert>>
  readAlert(repository: HostRepository, name: HostAlertName): Promise<HostAlert | null>

  /** Pull requests, newest change first. */
  listPullRequests(repository: HostRepository, options: ListOptions): Promise<ListResult<HostPullRequest>>
  /**
   * Pushes to a branch, newest first, without their commits. Merges of pull requests are left out,
   * but not those of the merge queue.
   */
  listPushes(repository: HostRepository, branch: string, options: ListOptions): Promise<ListResult<ToldPush>>
  readPullRequest(repository: HostRepository, number: number): Promise<HostPullRequest | null>
  listReviews(repository: HostRepository, pullRequest: number): Promise<HostReview[]>
  listChecks(repository: HostRepository, commitSha: string): Promise<HostCheck[]>
  /** The commits of a pull request, also after its merge. */
  listPullRequestCommits(repository: HostRepository, number: number): Promise<HostCommitList | null>
  /** The commits after `base` up to `head`. */
  compareCommits(repository: HostRepository, base: string, head: string): Promise<HostCommitList | null>
  /** The paths that a pull request changes, with the former paths of moved files. */
  listChangedFiles(repository: HostRepository, number: number): Promise<{ paths: string[]; complete: boolean } | null>
  /**
   * The rules of a branch. Null: unknown, because none may be read, or because there are none that
   * may be read and the branch can have others.
   */
  readBranchRules(repository: HostRepository, branch: string): Promise<HostBranchRules | null>
  /** Null: the commit has no such file that the host uses, or it may not be read. */
  readCodeOwners(repository: HostRepository, commitSha: string): Promise<HostCodeOwners | null>

  /**
   * The files directly in a folder, with their versions (blob SHAs); empty without the folder.
   * Throws `HostRefusal` if the folder may not be read, which would look like an empty one.
   */
  listFolder(repository: HostRepository, path: string, ref: string): Promise<{ path: string; blob: string }[]>
}

export type DeploymentReads = Pick<
  HostReader,
  | 'listDeployments'
  | 'readDeployment'
  | 'listGateRequests'
  | 'listDeploymentStatuses'
  | 'readEnvironment'
  | 'listPendingDeployments'
  | 'listDeploymentReviews'
>

/** A call that changes something on the host. */
export type HostAction =
  | { type: 'decision'; target: DecisionTarget; decision: 'approved' | 'rejected'; text: string }
  | { type: 'comment'; target: DecisionTarget; text: string }
  | {
      type: 'dismissal'
      repository: RepositoryName
      alert: HostAlertName
      reason: string
      comment: string | null
    }
  | { type: 'reopening'; repository: RepositoryName; alert: HostAlertName }
  | {
      type: 'commit_status'
      repository: RepositoryName
      commit_sha: string
      /** Identifies the status among those of the commit. */
      context: string
      state: 'success' | 'failure'
      description: string
      url: string | null
    }

/**
 * How a host carries out each type of actions. A host that cannot do it throws `HostRefusal` with
 * what to do instead.
 */
export type ActionSenders = {
  readonly [Type in HostAction['type']]: (action: Extract<HostAction, { type: Type }>) => Promise<void>
}

export function createDispatcher(senders: ActionSenders): HostClient['act'] {
  return (action) => (senders[action.type] as (action: HostAction) => Promise<void>)(action)
}

/** One connection, authenticated. */
export type HostClient = HostReader & {
  /**
   * Carries out an action. Throws `HostRefusal` if the host will never accept it, and
   * `HostUnavailable` if it may accept it later. It may be repeated after a lost answer.
   */
  act(action: HostAction): Promise<void>
  /**
   * Makes the host send the events of a repository to `target`, and corrects what differs. It may
   * be repeated. Throws `HostRefusal` if the credentials do not permit it. Does nothing at hosts
   * whose App has one address for all events.
   */
  ensureWebhook(repository: HostRepository, target: WebhookTarget): Promise<void>
  /** Removes every webhook of the connection that has this address. */
  removeWebhooks(address: string): Promise<void>
}

/**
 * Where a host sends the events of one connection, and the secret with which it proves them. `look`
 * names the synchronization that asks: what another one has found is looked at again.
 */
export type WebhookTarget = { address: string; secret: string; look: string }

/** What a connection signs in with at a host that has no App of ours. */
export type HostCredentials =
  | { type: 'token'; token: string }
  /** `tenant_id`: the directory of the client, at hosts that need it. */
  | { type: 'client'; client_id: string; client_secret: string; tenant_id: string | null }

/**
 * The host cannot be reached, fails or limits our requests. Trying again later can help, but not
 * before `retryAt`, which is null if the host did not say.
 */
export class HostUnavailable extends Error {
  readonly retryAt: Date | null

  constructor(message: string, retryAt: Date | null = null) {
    super(message)
    this.retryAt = retryAt
  }
}

/** The host refuses the request (GitHub: 403, 404, 409, 410, 422). Trying again does not help. */
export class HostRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What a connection is opened with. */
export type ConnectionAccess = {
  /** The id of the connection, by which its credentials are found. */
  id: string
  installation_id: string
  host: string
  /**
   * Sends each request once, with a short time limit, and waits for no rate limit. For callers that
   * try again themselves.
   */
  impatient?: boolean
}

/** The account that an installation belongs to. */
export type HostInstallation = {
  id: string
  account: { id: string; login: string; type: string }
  repositories: 'all' | 'selected'
  suspended: boolean
  /** When the host last changed these facts; absent if it does not say. */
  updated_at?: Date | null
}

/** What must be known of a delivery before it is stored. */
export type DeliveryHead = {
  id: string
  event: string
  action: string | null
  installation_id: string | null
  /** Deliveries of one object (run, deployment, alert, pull request) have the same lane. */
  lane: string
  /** The payload as it is stored: the body, without the values of secrets. */
  payload: string
}

/** What a delivery says about the connection itself. */
export type InstallationEvent = {
  change: 'created' | 'changed' | 'suspended' | 'unsuspended' | 'removed'
  installation: HostInstallation
  /** Repositories that were added to or removed from a selection. */
  added: { id: string; full_name: string }[]
  removed: { id: string; full_name: string }[]
}

/** What a stored delivery means. `unknown`: an event that we do not use. */
export type TranslatedDelivery =
  | { type: 'events'; events: HostEvent[] }
  /** The delivery only names what has changed, which is then read from the host. */
  | { type: 'changes'; changes: ObjectChange[] }
  | { type: 'installation'; event: InstallationEvent }
  | { type: 'unknown' }

/** The headers of a delivery, with names in lower case. */
export type DeliveryHeaders = Readonly<Record<string, string | string[] | undefined>>

/** The connection that a delivery is for, at hosts where each connection has its own webhooks. */
export type DeliveryTarget = { installation_id: string; secret: string }

/** Webhooks of one provider. `target` is null for the webhooks of an App. */
export type HostWebhooks = {
  /**
   * Whether the headers have a signature of the right form or, where the host sends the secret
   * itself, the secret of the target. Asked before the body is read.
   */
  hasSignature(headers: DeliveryHeaders, target: DeliveryTarget | null): boolean
  /** Checks the signature over the raw body, or the secret of the target, in constant time. */
  verify(body: Buffer, headers: DeliveryHeaders, target: DeliveryTarget | null): Promise<boolean>
  /** Null if the body is not JSON or a header is missing. The body is verified. */
  readHead(body: Buffer, headers: DeliveryHeaders, target: DeliveryTarget | null): DeliveryHead | null
  /** Throws an `Error` that names the field if the payload does not fit. */
  translate(event: string, payload: unknown): TranslatedDelivery
}

/** A delivery that the host could not deliver. */
export type FailedDelivery = { id: string; delivery_id: string; event: string; delivered_at: Date }

/** The deliveries that a host keeps and can repeat. */
export type HostRedeliveries = {
  /** Deliveries since `since` that no try delivered, newest first. */
  listFailed(since: Date): Promise<FailedDelivery[]>
  repeat(id: string): Promise<void>
}

/** A supported code host. It is there whether or not its credentials are configured. */
export type CodeHost = {
  /**
   * `app`: an installation of our App is connected, and the App has one webhook. `account`: an
   * account is connected with credentials of its own, and has its own webhooks.
   */
  connects: 'app' | 'account'
  webhooks: HostWebhooks
  /** The name of the host, such as `github.com`. */
  host(): Promise<string>
  /**
   * The installation or account with this id. Accounts can be named by login too, and are read with
   * these credentials. Null if it does not exist. Throws `HostUnavailable`, 409 `not_configured`,
   * and 400 `invalid_credentials` if the host does not accept the credentials.
   */
  readInstallation(id: string, credentials: HostCredentials | null): Promise<HostInstallation | null>
  open(access: ConnectionAccess): HostClient
  /** Null if the host cannot repeat deliveries. */
  redeliveries: HostRedeliveries | null
}

/** What identifies our App at a host. */
export type AppCredentials = {
  app_id: string
  /** PEM. */
  private_key: string
  /** More than one while the secret is rotated. */
  webhook_secrets: readonly string[]
  /** The address of the host's API. */
  api_url: string
}

/** What the person who sets an App up chooses. */
export type AppSetupOptions = {
  /** The organization on the host that will own the App; null for the account of the person. */
  organization: string | null
  read_only_alerts: boolean
  /** True if other accounts may install the App too. */
  public: boolean
  /** The slug of the organization whose person continues in the console. Null: the command line. */
  org: string | null
}

/** The App of this server, without its secrets. */
export type DescribedApp = {
  /** Whether the environment or a setup names the App. Null: there is none. */
  source: 'environment' | 'setup' | null
  /** The name of the App in addresses. Null if only the host knows it. */
  slug: string | null
  /** The page that installs the App for an organization of ours. Null if only the host knows it. */
  install_url: string | null
}

/** Our App at a host whose installations are connected. */
export type HostApp = {
  /** Null while no credentials are configured. They may change while the program runs. */
  read(): Promise<AppCredentials | null>
  /** Throws 409 `not_configured` with the ways to configure an App. */
  require(): Promise<AppCredentials>
  /** `org`: the slug of the organization whose person installs it. */
  describe(org: string): Promise<DescribedApp>
  /**
   * Returns the address of our server at which a person creates the App. Throws 400 for an invalid
   * organization, and 409 `already_configured` if the environment names an App.
   */
  startSetup(db: Db, options: AppSetupOptions): Promise<{ url: string; expires_at: Date }>
}

/** Our Apps, by provider. */
export type HostApps = { get(provider: string): HostApp | undefined }

/** What a host is opened with. It is not contacted yet. */
export type HostParts = {
  config: Config
  hostApps: HostApps
  log: Log
  clock: Clock
  /** Seals secrets that the host needs back. */
  sealingKey: KeyObject
  /** The credentials of a connection; null if it has none. */
  readCredentials(connectionId: string): Promise<HostCredentials | null>
}

/** The supported code hosts, by provider. The code of one can be loaded when it is first used. */
export type CodeHosts = { get(provider: string): CodeHost | undefined | Promise<CodeHost | undefined> }
