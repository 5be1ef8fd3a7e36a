import type { WebhookTarget } from '../../../src/codehosts/code-host.ts'
import { createBitbucketHost } from '../../../src/codehosts/hosts/bitbucket/host.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'

/** A process of its own that makes the webhooks of a repository. */
const [url = '', token = '', installation_id = '', repositoryId = '', target = ''] = process.argv.slice(2)
const readCredentials = async () => ({ type: 'token', token }) as const
const pace = { timeLimitMs: 10_000, waitUnitMs: 1 }
const host = createBitbucketHost({ url, readCredentials, log: createLog('silent'), clock: systemClock, pace })
const client = host.open({ id: 'a connection', installation_id, host: await host.host() })
const repository = await client.readRepository(repositoryId)
if (repository === null) throw new Error('The repository is not found')
await client.ensureWebhook(repository, JSON.parse(target) as WebhookTarget)
