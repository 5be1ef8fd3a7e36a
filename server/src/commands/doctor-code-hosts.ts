import { listConnections, listWaiting } from '../codehosts/connections/connection-list.store.ts'
import type { Services } from '../services.ts'

type Result = { ok: boolean; detail: string }

/** The checks of code hosts, in the order in which `doctor` shows them. */
export const CODE_HOST_CHECKS: readonly { check: string; examine: (services: Services) => Promise<Result> }[] = [
  { check: 'github app', examine: checkGithubApp },
  { check: 'connections', examine: checkConnections },
  { check: 'installations', examine: checkWaiting },
]

/** A server without code hosts is in order. Throws if the stored credentials cannot be decrypted. */
async function checkGithubApp({ config, githubCredentials }: Services): Promise<Result> {
  const credentials = await githubCredentials.read()
  if (credentials === null) return { ok: true, detail: 'not configured; run "provider setup github"' }
  const source = config.github ? 'SHIPLOCK_GITHUB_…' : 'the database'
  const secrets = credentials.webhook_secrets.length
  const detail = `App ${credentials.app_id} at ${credentials.api_url}, from ${source}`
  return { ok: true, detail: secrets > 1 ? `${detail}, with ${secrets} webhook secrets` : detail }
}

async function checkConnections({ sql }: Services): Promise<Result> {
  const listed = (await listConnections(sql, null)).map(({ connection }) => connection)
  const present = listed.filter(({ status }) => status !== 'removed')
  const problems = present.flatMap(({ account, status, sync }) => [
    ...(status === 'suspended' ? [`${account?.login} is suspended on its code host`] : []),
    ...(sync.state === 'failed' ? [`the synchronization of ${account?.login} failed: ${sync.error}`] : []),
  ])
  return { ok: problems.length === 0, detail: [`${present.length} connected accounts`, ...problems].join('; ') }
}

/** Waiting installations are no failure, but their events are not applied. */
async function checkWaiting({ sql }: Services): Promise<Result> {
  const waiting = await listWaiting(sql)
  if (waiting.length === 0) return { ok: true, detail: 'none is waiting' }
  const names = waiting.map(({ id, account }) => (account ? `${account.login} (${id})` : id))
  return { ok: true, detail: `waiting for "provider connect": ${names.join(', ')}` }
}
