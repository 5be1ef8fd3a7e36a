import { type FakeAzure, startFakeAzure } from '../azure/fake-azure.ts'
import { type FakeBitbucket, startFakeBitbucket } from '../bitbucket/fake-bitbucket.ts'
import { type FakeGitLab, startFakeGitLab } from '../gitlab/fake-gitlab.ts'
import { type HostServer, startHostServer } from './host-server.ts'
import type { Repository } from './types.ts'

const EVENTS = 20
const HANGS_MS = 20_000

/** The program beside two hosts that can be in trouble, and one that is well. */
export class HostsApart {
  readonly gitlab: FakeGitLab
  readonly bitbucket: FakeBitbucket
  readonly azure: FakeAzure
  readonly server: HostServer
  readonly #shops = new Map<string, Repository>()

  constructor(gitlab: FakeGitLab, bitbucket: FakeBitbucket, azure: FakeAzure, server: HostServer) {
    this.gitlab = gitlab
    this.bitbucket = bitbucket
    this.azure = azure
    this.server = server
  }

  async connect(): Promise<void> {
    for (const host of [this.gitlab, this.bitbucket, this.azure]) {
      const shop = host.stories.addRepository('acme/shop')
      host.stories.push(shop)
      this.#shops.set(host.provider, shop)
      await host.connect(this.server, 'acme')
    }
    await this.server.settled()
  }

  /** One host hangs, another one limits, and both have much to tell. */
  disturb(): void {
    this.gitlab.trouble.latencyMs = HANGS_MS
    Object.assign(this.bitbucket.trouble, { limited: 10_000, retryAfterSeconds: 60 })
    this.flood(this.gitlab)
    this.flood(this.bitbucket)
  }

  flood({ provider, stories }: FakeGitLab | FakeBitbucket): void {
    const shop = this.#shops.get(provider) as Repository
    for (let count = 0; count < EVENTS; count += 1) stories.startRun(shop).finish('build')
  }

  /** How long it takes until a run of the host that is well is shown with its end. */
  async measureRun(): Promise<number> {
    const { azure, server } = this
    const startedAt = performance.now()
    const story = azure.stories.startRun(this.#shops.get('azure') as Repository).finish('build')
    await server.until(
      async () => {
        const { status, body } = await server.request('GET', `/v1/runs/${azure.runId(story)}`)
        return status === 200 ? body.data.status : null
      },
      (status) => status === 'success',
    )
    return performance.now() - startedAt
  }
}

export async function startHostsApart(): Promise<HostsApart> {
  const gitlab = await startFakeGitLab()
  const bitbucket = await startFakeBitbucket()
  const azure = await startFakeAzure()
  const apart = new HostsApart(gitlab, bitbucket, azure, await startHostServer([gitlab, bitbucket, azure]))
  await apart.connect()
  return apart
}
