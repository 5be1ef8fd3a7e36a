import { type RestServer, startRestServer } from '../hosts/rest-server.ts'
import { githubApi } from './api.ts'
import { Authentication, newPrivateKey, publicKeyOf, sharedPrivateKey } from './authentication.ts'
import { BulkRepositories } from './bulk.ts'
import type { OperationName } from './described.ts'
import type { GitHubRequest, Handler } from './request.ts'
import { alertRoutes } from './routes/alerts.ts'
import { appRoutes } from './routes/app.ts'
import { commitRoutes } from './routes/commits.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { pullRoutes } from './routes/pulls.ts'
import { repositoryRoutes } from './routes/repositories.ts'
import { runRoutes } from './routes/runs.ts'
import { install } from './stories/installations.ts'
import { GitHubStories } from './stories/stories.ts'
import { GitHubTrouble } from './trouble.ts'
import type { App, BulkSizes } from './types.ts'
import { sendEvents } from './webhooks/send-events.ts'
import { GitHubWorld } from './world.ts'

export type FakeGitHubOptions = {
  /**
   * Where webhooks are sent. Without it they are only kept; `fake.webhooks.url` can be set later.
   */
  webhookUrl?: string
  webhookSecret?: string
  /** The address of the pages. */
  htmlUrl?: string
  /** `/api/v3`, as an Enterprise Server has it. */
  basePath?: string
  /** False for benchmarks: nothing is checked against GitHub's description. */
  checked?: boolean
  /** Every answer takes this long. */
  latencyMs?: number
  /** Fills one installation with computed repositories and switches the checks off. */
  bulk?: BulkSizes
}

/**
 * A GitHub with state on a loopback port. Stories change the state, which sends webhooks; the REST
 * API shows it. Every request, answer and payload is checked against GitHub's own description:
 * `violations` has to stay empty.
 */
export class FakeGitHub extends GitHubStories {
  readonly trouble: GitHubTrouble
  readonly requests: readonly string[]
  readonly graphql = { enabled: true }
  readonly #authentication: Authentication
  readonly #server: RestServer

  constructor(world: GitHubWorld, server: RestServer, options: FakeGitHubOptions) {
    super(world)
    this.trouble = new GitHubTrouble()
    this.trouble.latencyMs = options.latencyMs ?? 0
    this.#authentication = new Authentication(world)
    this.#server = server
    this.requests = server.requests
    const { trouble, graphql } = this
    const { basePath = '' } = options
    const authentication = this.#authentication
    server.serve(githubApi({ world, trouble, authentication, handlers: this.#handlers(), basePath, graphql }))
    if (options.bulk !== undefined) this.#fill(options.bulk)
  }

  #handlers(): Record<OperationName, Handler> {
    const issueToken = (request: GitHubRequest) => {
      const installation = this.world.installations.get(request.number('installation_id'))
      return this.#authentication.issueToken(installation as NonNullable<typeof installation>)
    }
    return {
      ...appRoutes(issueToken),
      ...deliveryRoutes,
      ...repositoryRoutes,
      ...commitRoutes,
      ...runRoutes,
      ...pullRoutes,
      ...deploymentRoutes,
      ...alertRoutes,
    }
  }

  #fill(sizes: BulkSizes): void {
    const installation = install(this.world, 'bulk', 'all')
    this.world.bulk = new BulkRepositories(this.world, installation, sizes)
  }

  /** What `SHIPLOCK_GITHUB_*` need. */
  get settings() {
    const { app } = this.world
    return { appId: app.id, privateKey: app.privateKey, webhookSecret: app.webhookSecret, apiUrl: this.world.api }
  }

  /** A second private key; tokens of the first one are accepted until `revokeOldKeys`. */
  addKey(): string {
    const { app } = this.world
    app.privateKey = newPrivateKey()
    app.publicKeys.push(publicKeyOf(app.privateKey))
    return app.privateKey
  }

  /** Only tokens that the newest key signed are accepted. */
  revokeOldKeys(): void {
    const { app } = this.world
    app.publicKeys.splice(0, app.publicKeys.length - 1)
    this.#authentication.expireTokens()
  }

  /** Deliveries are signed with another secret from now on. */
  setWebhookSecret(secret: string): void {
    this.world.app.webhookSecret = secret
  }

  expireTokens(): void {
    this.#authentication.expireTokens()
  }

  async close(): Promise<void> {
    await this.webhooks.settled()
    await this.#server.close()
  }
}

/** Starts a fake GitHub on a free port of the loopback interface. Stop it with `close`. */
export async function startFakeGitHub(options: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const server = await startRestServer()
  const world = new GitHubWorld(newApp(options), {
    webhookUrl: options.webhookUrl ?? null,
    api: `${server.url}${options.basePath ?? ''}`,
    html: options.htmlUrl ?? 'https://github.com',
    checked: options.checked ?? options.bulk === undefined,
  })
  sendEvents(world)
  return new FakeGitHub(world, server, options)
}

function newApp({ webhookSecret = 'a secret of the webhook' }: FakeGitHubOptions): App {
  const created_at = new Date('2026-01-01T00:00:00.000Z')
  const privateKey = sharedPrivateKey()
  const login = 'shiplock-maker'
  const maker = { id: 900, uuid: '', login, type: 'organization', name: null, email: '', created_at } as const
  return {
    id: 4711,
    slug: 'shiplock',
    name: 'Shiplock',
    owner: maker,
    created_at,
    privateKey,
    publicKeys: [publicKeyOf(privateKey)],
    webhookSecret,
  }
}
