import type { Provider } from '../../../src/codehosts/catalogue.ts'
import type { Json } from '../json.ts'
import type { DeliveryTry, ReleaseOptions } from './deliveries.ts'
import type { RunStory } from './stories/run-story.ts'
import type { Stories } from './stories/stories.ts'
import type { Alert, AlertType, Deployment, Repository } from './types.ts'

/** What a host can do. What it cannot do is shown as null or refused with 409, never guessed. */
export type HostAbilities = {
  /** Our rule holds deployments. `job`: a manual job that we play. False: only the CLI's step. */
  gate: 'rule' | 'job' | false
  /** Reviewers of the host's own approve deployments. */
  reviewers: boolean
  /** Our text reaches the people who wait for a decision. */
  comments: boolean
  /** The run of a retry is the same run with another attempt. */
  reruns: boolean
  alerts: readonly AlertType[]
  /** A dismissal of ours is carried out by the host. */
  dismissals: readonly AlertType[]
}

/** What starts a command of the program: it answers what the command printed. */
export type ConnectingServer = {
  url: string
  command(...args: string[]): Promise<Json>
  commandWithInput(input: string, ...args: string[]): Promise<Json>
  /** Writes a secret into a file of its own, and answers its path. */
  secretFile(secret: string): string
  restart(): Promise<void>
}

/** The webhooks that a fake sends, of an App or registered through its API. */
export type HostDeliveries = {
  /** No try arrives while this is true. */
  broken: boolean
  readonly all: readonly { event: string; tries: DeliveryTry[] }[]
  readonly failed: readonly { event: string; tries: DeliveryTry[] }[]
  hold(): void
  release(options?: ReleaseOptions): Promise<void>
  settled(): Promise<void>
}

/** What a test can let go wrong at every host. */
export type HostTrouble = {
  latencyMs: number
  down: 'refuse' | 'error' | null
  /** Lists whose second page says that it is followed by the second page. */
  endless: RegExp | null
  /** Number of next requests that are limited, with `Retry-After`. */
  limited: number
  retryAfterSeconds: number
  cutAnswers: number
}

/** A fake code host, as the table of stories needs it. */
export type FakeHost = {
  provider: Provider
  /** The name that people know: `GitHub`. */
  name: string
  can: HostAbilities
  stories: Stories
  webhooks: HostDeliveries
  trouble: HostTrouble
  /** What was wrong with requests, answers and payloads. It has to stay empty. */
  violations: string[]
  /** The requests that were received: `GET /user`. */
  requests: readonly string[]
  /** The settings with which the program finds this host. */
  settings(): Record<string, string>
  /** The program was started, also again: webhooks of an App go to its address. */
  follow(url: string): void
  /** Connects an account with `provider connect` and answers what it printed. */
  connect(server: ConnectingServer, login: string): Promise<Json>
  /**
   * Gives the connection of an account other credentials and tells the program. The former ones are
   * accepted until `revokeOldCredentials`.
   */
  rotateCredentials(server: ConnectingServer, login: string): Promise<void>
  /** From now on the host refuses every credential of an account but the newest. */
  revokeOldCredentials(login: string): void
  /** The host refuses every credential of an account. */
  revokeCredentials(login: string): void
  /** How many webhooks of an account send to the program; null for the one of an App. */
  hookCount(login: string): number | null
  /** The name under which the program shows a repository. */
  fullName(repository: Repository): string
  /** The id of a repository at the host, as the program shows it. */
  repositoryId(repository: Repository): string
  /** `gh_run_…` */
  runId(run: RunStory): string
  deploymentId(deployment: Deployment): string
  alertId(alert: Alert): string
  /** Everything that identifies something of a repository, in the order in which it came to be. */
  idsOf(repository: Repository): string[]
  close(): Promise<void>
}
