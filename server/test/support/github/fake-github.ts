import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Authentication, newPrivateKey, publicKeyOf, sharedPrivateKey } from './authentication.ts'
import { BulkRepositories } from './bulk.ts'
import type { OperationName } from './described.ts'
import type { Handler } from './request.ts'
import { alertRoutes } from './routes/alerts.ts'
import { appRoutes } from './routes/app.ts'
import { commitRoutes } from './routes/commits.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { pullRoutes } from './routes/pulls.ts'
import { repositoryRoutes } from './routes/repositories.ts'
import { runRoutes } from './routes/runs.ts'
import { requestListener } from './server.ts'
import { State } from './state.ts'
import { install } from './stories/installations.ts'
import { Stories } from './stories/stories.ts'
import { GitHubTrouble } from './trouble.ts'
import type { App, BulkSizes } from './types.ts'
import { AppDeliveries } from './webhooks/deliveries.ts'
import { World } from './webhooks/world.ts'

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
export class FakeGitHub extends Stories {
  readonly trouble: GitHubTrouble
  readonly requests: string[] = []
  readonly graphql = { enabled: true }
  readonly #authentication: Authentication
  readonly #server: Server

  constructor(world: World, server: Server, options: FakeGitHubOptions) {
    super(world)
    this.trouble = new GitHubTrouble()
    this.trouble.latencyMs = options.latencyMs ?? 0
    this.#authentication = new Authentication(world.state)
    this.#server = server
    const listener = requestListener({
      world,
      trouble: this.trouble,
      authentication: this.#authentication,
      handlers: this.#handlers(),
      basePath: options.basePath ?? '',
      graphql: this.graphql,
      requests: this.requests,
    })
    server.on('request', listener)
    if (options.bulk !== undefined) this.#fill(options.bulk)
  }

  #handlers(): Record<OperationName, Handler> {
    const issueToken = ({ state, operation }: Parameters<Handler>[0]) => {
      const installation = state.installations.get(Number(operation.params.installation_id))
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
    this.world.state.bulk = new BulkRepositories(this.world.state, installation, sizes)
  }

  /** What `SHIPLOCK_GITHUB_*` need. */
  get settings() {
    const { app } = this.world.state
    return { appId: app.id, privateKey: app.privateKey, webhookSecret: app.webhookSecret, apiUrl: this.world.api }
  }

  /** A second private key; tokens of the first one are accepted until `revokeOldKeys`. */
  addKey(): string {
    const { app } = this.world.state
    app.privateKey = newPrivateKey()
    app.publicKeys.push(publicKeyOf(app.privateKey))
    return app.privateKey
  }

  /** Only tokens that the newest key signed are accepted. */
  revokeOldKeys(): void {
    const { app } = this.world.state
    app.publicKeys.splice(0, app.publicKeys.length - 1)
    this.#authentication.expireTokens()
  }

  /** Deliveries are signed with another secret from now on. */
  setWebhookSecret(secret: string): void {
    this.world.state.app.webhookSecret = secret
  }

  expireTokens(): void {
    this.#authentication.expireTokens()
  }

  async close(): Promise<void> {
    await this.webhooks.settled()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** Starts a fake GitHub on a free port of the loopback interface. Stop it with `close`. */
export async function startFakeGitHub(options: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const state = new State(newApp(options))
  state.accounts.set(state.app.owner.login, state.app.owner)
  const world = new World(state, new AppDeliveries(state, options.webhookUrl ?? null), {
    api: `http://127.0.0.1:${port}${options.basePath ?? ''}`,
    html: options.htmlUrl ?? 'https://github.com',
    checked: options.checked ?? options.bulk === undefined,
  })
  return new FakeGitHub(world, server, options)
}

function newApp({ webhookSecret = 'a secret of the webhook' }: FakeGitHubOptions): App {
  const created_at = new Date('2026-01-01T00:00:00.000Z')
  const privateKey = sharedPrivateKey()
  return {
    id: 4711,
    slug: 'shiplock',
    name: 'Shiplock',
    owner: { id: 900, login: 'shiplock-maker', type: 'Organization', name: null, email: null, created_at },
    created_at,
    privateKey,
    publicKeys: [publicKeyOf(privateKey)],
    webhookSecret,
  }
}
