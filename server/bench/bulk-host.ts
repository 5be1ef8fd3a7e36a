// A fake GitHub with many repositories, in a process of its own: `bulk-host.ts SIZES LATENCY_MS`.
import { type FakeGitHubOptions, startFakeGitHub } from '../test/support/github/fake-github.ts'

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
const installation = String(fake.world.state.bulk?.installation.id)
process.stdout.write(`${JSON.stringify({ environment, installation })}\n`)
