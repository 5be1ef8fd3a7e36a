// A fake GitHub with many repositories, in a process of its own: `bulk-host.ts SIZES LATENCY_MS`.
import type { BulkRepositories } from '../test/support/github/bulk.ts'
import { type FakeGitHubOptions, startFakeGitHub } from '../test/support/github/fake-github.ts'

/** The settings of an App at it, and the installation with all repositories. */
export type BulkHost = {
  environment: Record<string, string>
  installation: string
  account: { id: number; login: string }
}

const [sizes = '{}', latencyMs = '0'] = process.argv.slice(2)
const bulk = JSON.parse(sizes) as NonNullable<FakeGitHubOptions['bulk']>
const fake = await startFakeGitHub({ bulk, latencyMs: Number(latencyMs) })
process.once('SIGTERM', () => void fake.close())

const { appId, privateKey, webhookSecret, apiUrl } = fake.settings
const environment = {
  SHIPLOCK_GITHUB_APP_ID: String(appId),
  SHIPLOCK_GITHUB_PRIVATE_KEY: privateKey,
  SHIPLOCK_GITHUB_WEBHOOK_SECRET: webhookSecret,
  SHIPLOCK_GITHUB_API_URL: apiUrl,
}
const { id, account } = (fake.world.bulk as BulkRepositories).installation
const ready: BulkHost = { environment, installation: String(id), account: { id: account.id, login: account.login } }
process.stdout.write(`${JSON.stringify(ready)}\n`)
