import { type Static, Type } from 'typebox'
import type { CodeHost, FailedDelivery } from '../../code-host.ts'
import { Id, Maybe, readAs, Text, Timestamp } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { itemsOf } from '../client/page.ts'
import { parseInstallation } from '../objects/installation.parser.ts'

/** What the App reads as itself, not for one installation. */
type AppReads = Pick<CodeHost, 'readInstallation' | 'redeliveries'>

const DELIVERIES = '/app/hook/deliveries'

export function appReads(api: GithubApi): AppReads {
  return {
    async readInstallation(id) {
      const installation = await api.read('GET /app/installations/{installation_id}', { installation_id: id })
      return installation && parseInstallation(installation)
    },

    redeliveries: {
      async listFailed(since) {
        const attempts = await readAttempts(api, since)
        const delivered = new Set(attempts.filter(isDelivered).map(({ guid }) => guid))
        const failed = new Map<string, FailedDelivery>()
        for (const attempt of attempts) {
          if (delivered.has(attempt.guid) || failed.has(attempt.guid)) continue
          failed.set(attempt.guid, failedDeliveryOf(attempt))
        }
        return [...failed.values()]
      },

      repeat: (id) => api.send(`POST ${DELIVERIES}/{delivery_id}/attempts`, { delivery_id: id }),
    },
  }
}

/** One try to deliver. All tries of a delivery have the same `guid`. */
const Attempt = Type.Object({
  id: Id,
  guid: Text,
  event: Text,
  delivered_at: Timestamp,
  status: Maybe(Text),
  status_code: Maybe(Type.Integer()),
})
type Attempt = Static<typeof Attempt>

/** The tries since a time, newest first. */
async function readAttempts(api: GithubApi, since: Date): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page = await api.requestPage(`GET ${DELIVERIES}`, {}, next ? { next } : {})
    if (page === null || page === 'not_modified') break
    const read = api.parseItems(itemsOf(page.data), (attempt) => readAs(Attempt, attempt))
    const recent = read.filter((attempt) => new Date(attempt.delivered_at) >= since)
    attempts.push(...recent)
    next = recent.length < read.length ? null : page.next
  }
  return attempts
}

function isDelivered({ status, status_code: code }: Attempt): boolean {
  return typeof code === 'number' && code > 0 ? code >= 200 && code < 300 : status === 'OK'
}

function failedDeliveryOf({ id, guid, event, delivered_at }: Attempt): FailedDelivery {
  return { id: String(id), delivery_id: guid, event, delivered_at: new Date(delivered_at) }
}
