import { setTimeout } from 'node:timers/promises'
import type { SeededRandom } from '../../src/platform/seeded-random.ts'
import { type FakeGitHub, startFakeGitHub } from '../support/github/fake-github.ts'
import type { Repository } from '../support/hosts/types.ts'
import { runAsProcess } from '../support/program.ts'
import type { Installation } from './installation.ts'

const ACCOUNT = 'acme'
const PAUSE_MS_MAX = 4000
const POLL_MS = 100
/** Each change sends about ten deliveries, and is verified against its chain. */
const CHANGES_MAX = 300

export function githubSettings({ settings }: FakeGitHub): Record<string, string> {
  return {
    SHIPLOCK_GITHUB_APP_ID: String(settings.appId),
    SHIPLOCK_GITHUB_PRIVATE_KEY: settings.privateKey,
    SHIPLOCK_GITHUB_WEBHOOK_SECRET: settings.webhookSecret,
    SHIPLOCK_GITHUB_API_URL: settings.apiUrl,
  }
}

/**
 * A code host at which people push, review and merge. It does not repeat webhooks by itself. The
 * program asks for those that were lost, but hosts accept only one such request a second, so nobody
 * merges again before the program is back.
 */
export class HostLoad {
  readonly fake: FakeGitHub
  readonly #repository: Repository
  #merged: string[] = []
  #stopping = false

  constructor(fake: FakeGitHub) {
    this.fake = fake
    this.#repository = fake.addRepository(`${ACCOUNT}/shop`)
    fake.push(this.#repository)
  }

  static async create(): Promise<HostLoad> {
    return new HostLoad(await startFakeGitHub())
  }

  /** The commits that landed and were sent while the program was connected. */
  get merged(): readonly string[] {
    return this.#merged
  }

  async connect(installation: Installation): Promise<void> {
    this.fake.webhooks.url = `${installation.url}/webhooks/github`
    const { id } = this.fake.install(ACCOUNT)
    await this.fake.webhooks.settled()
    const args = ['provider', 'connect', '--org', 'default', '--provider', 'github', '--installation', `${id}`]
    const { code, stderr } = await runAsProcess(installation.dataDir, args, installation.settings)
    if (code !== 0) throw new Error(`The code host was not connected: ${stderr}`)
  }

  /** Merges pull requests until `stop`. */
  async run(random: SeededRandom): Promise<void> {
    while (!this.#stopping && this.#merged.length < CHANGES_MAX) {
      this.#merged.push(this.#merge(`change-${this.#merged.length}`))
      await setTimeout(random.below(PAUSE_MS_MAX))
      await this.fake.webhooks.settled()
      if (this.#hasLostWebhooks()) await this.#untilAnswered()
    }
  }

  #hasLostWebhooks(): boolean {
    const status = this.fake.deliveries.at(-1)?.tries.at(-1)?.statusCode ?? 0
    return status >= 300
  }

  async #untilAnswered(): Promise<void> {
    const url = new URL('/healthz', this.fake.webhooks.url ?? '')
    while (!this.#stopping && !(await fetch(url).catch(() => null))?.ok) await setTimeout(POLL_MS)
  }

  stop(): void {
    this.#stopping = true
  }

  #merge(branch: string): string {
    const repository = this.#repository
    this.fake.push(repository, { branch, message: branch, files: { [`src/${branch}.ts`]: 'export {}\n' } })
    const pull = this.fake.openPullRequest(repository, { branch, title: branch })
    this.fake.reviewPullRequest(repository, pull, { by: 'grace', state: 'approved' })
    this.fake.startRun(repository, { pullRequest: pull }).finish('build')
    return this.fake.merge(repository, pull).sha
  }
}
