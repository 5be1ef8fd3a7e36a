import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type FakeAzure, startFakeAzure } from '../support/azure/fake-azure.ts'
import { type FakeBitbucket, startFakeBitbucket } from '../support/bitbucket/fake-bitbucket.ts'
import { type FakeGitLab, startFakeGitLab } from '../support/gitlab/fake-gitlab.ts'
import { type HostServer, startHostServer } from '../support/hosts/host-server.ts'
import type { Repository } from '../support/hosts/types.ts'

const SECONDS_MAX = 5
const EVENTS = 20

let gitlab: FakeGitLab
let bitbucket: FakeBitbucket
let azure: FakeAzure
let server: HostServer
let shops: Repository[]

before(async () => {
  gitlab = await startFakeGitLab()
  bitbucket = await startFakeBitbucket()
  azure = await startFakeAzure()
  server = await startHostServer([gitlab, bitbucket, azure])
  shops = []
  for (const host of [gitlab, bitbucket, azure]) {
    const shop = host.stories.addRepository('acme/shop')
    host.stories.push(shop)
    shops.push(shop)
    await host.connect(server, 'acme')
  }
  await server.settled()
})
after(() => server?.close())

/** Something happens at a host, many times. */
function flood({ stories }: FakeGitLab | FakeBitbucket, shop: Repository): void {
  for (let count = 0; count < EVENTS; count += 1) stories.startRun(shop).finish('build')
}

/** How long it takes until a run of Azure DevOps is shown with its end. */
async function measureRun(): Promise<number> {
  const startedAt = performance.now()
  const story = azure.stories.startRun(shops[2] as Repository).finish('build')
  const path = `/v1/runs/${azure.runId(story)}`
  await server.until(
    async () => {
      const { status, body } = await server.request('GET', path)
      return status === 200 ? body.data.status : null
    },
    (status) => status === 'success',
  )
  return (performance.now() - startedAt) / 1000
}

const placesOf = async () => {
  const rows = await server.sql<{ places: number }[]>`
    select count(*)::int as places
    from jobs
    where state = 'running'
      and waits_for is not null
    group by organization_id, waits_for
    having waits_for like '%gitlab' or waits_for like '%bitbucket'`
  return Math.max(0, ...rows.map(({ places }) => places))
}

test('beside a host that hangs and one that limits, an event of another one is applied within five seconds', async () => {
  const quiet = await measureRun()
  gitlab.trouble.latencyMs = 20_000
  Object.assign(bitbucket.trouble, { limited: 10_000, retryAfterSeconds: 60 })
  flood(gitlab, shops[0] as Repository)
  flood(bitbucket, shops[1] as Repository)
  for (let round = 0; round < 3; round += 1) {
    const seconds = await measureRun()
    assert.ok(seconds < SECONDS_MAX, `${seconds} s, alone ${quiet} s`)
    assert.ok((await placesOf()) <= 1)
  }
  // What is limited waits in the queue, and asks no more until then.
  const before = bitbucket.requests.length
  await measureRun()
  assert.ok(bitbucket.requests.length - before <= 1)
})

test('beside a host that is dead, too', async () => {
  gitlab.trouble.latencyMs = 0
  gitlab.trouble.down = 'refuse'
  flood(gitlab, shops[0] as Repository)
  for (let round = 0; round < 3; round += 1) assert.ok((await measureRun()) < SECONDS_MAX)
  assert.ok((await placesOf()) <= 1)
})
