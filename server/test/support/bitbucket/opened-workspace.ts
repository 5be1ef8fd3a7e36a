import type { TestContext } from 'node:test'
import type { HostCredentials } from '../../../src/codehosts/code-host.ts'
import type { HostRepository } from '../../../src/codehosts/host-repository.ts'
import { createBitbucketHost } from '../../../src/codehosts/hosts/bitbucket/host.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { Stories } from '../hosts/stories/stories.ts'
import type { Repository } from '../hosts/types.ts'
import { startFakeBitbucket } from './fake-bitbucket.ts'

const PACE = { timeLimitMs: 10_000, waitUnitMs: 1 }

/** A fake Bitbucket with one repository, and a client that is connected to its workspace. */
export async function openedWorkspace(t: TestContext, fields: { credentials?: () => HostCredentials | null } = {}) {
  const fake = await startFakeBitbucket()
  t.after(() => fake.close())
  const stories = new Stories(fake.world)
  const shop = stories.addRepository('acme/shop')
  const token = fake.token('acme')
  const { credentials = (): HostCredentials => ({ type: 'token', token }) } = fields
  const readCredentials = async () => credentials()
  const host = createBitbucketHost({
    url: fake.url,
    readCredentials,
    log: createLog('silent'),
    clock: systemClock,
    pace: PACE,
  })
  const installation_id = shop.owner.uuid
  const client = host.open({ id: 'a connection', installation_id, host: await host.host() })
  const read = async (repository: Repository): Promise<HostRepository> => {
    const found = await client.readRepository(repository.uuid)
    if (found === null) throw new Error('The repository is not found')
    return found
  }
  return { fake, stories, shop, host, client, token, read }
}
