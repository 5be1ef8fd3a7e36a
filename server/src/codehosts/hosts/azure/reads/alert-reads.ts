import { Type } from 'typebox'
import { DAY_MS, HOUR_MS } from '../../../../platform/clock.ts'
import type { HostReader } from '../../../code-host.ts'
import type { HostAlert, HostAlertType } from '../../../host-alert.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { readAs, Text } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { ALERT_WORDS, parseAlert } from '../alerts.ts'
import { LISTED } from './run-reads.ts'

const PAGE_ITEMS = 100
/** How long ago the alerts of a page were changed. The last page has all. */
const WINDOWS_MS = [2 * HOUR_MS, DAY_MS, 7 * DAY_MS, null]

/**
 * Alerts have no time of their last change, but those that were changed since a time can be listed.
 * Each page has those of a longer time. An alert that only a longer time finds was not changed in
 * the shorter one, which gives the time that its version is compared by.
 */
export function alertReads(api: AzureApi): Pick<HostReader, 'listAlerts' | 'readAlert'> {
  return {
    async listAlerts(repository, type, { next }) {
      const path = await pathOf(api, repository)
      const cursor = next ? readAs(Cursor, JSON.parse(next)) : { window: 0, from: api.now().toISOString() }
      if (path === null) return { items: [], next: null, etag: null }
      for (let { window } = cursor; ; window += 1) {
        const items = await listWindow(api, { repository, type, path }, { ...cursor, window })
        if (items === null) return { items: [], next: null, etag: null }
        const following = window + 1 < WINDOWS_MS.length ? JSON.stringify({ ...cursor, window: window + 1 }) : null
        if (items.length > 0 || following === null) return { items, next: following, etag: LISTED }
      }
    },

    async readAlert(repository, { type, number }) {
      const path = await pathOf(api, repository)
      const readAt = api.now()
      const alert = path && (await api.read({ path: path + restPath`/${number}`, security: true }))
      const read = alert ? parseAlert(alert, repository, readAt) : null
      return read?.type === type ? read : null
    },
  }
}

const Cursor = Type.Object({
  window: Type.Integer({ minimum: 0, maximum: WINDOWS_MS.length - 1 }),
  from: Text,
})
type Cursor = { window: number; from: string }

async function pathOf(api: AzureApi, repository: HostRepository): Promise<string | null> {
  const project = await api.projectOf(repository)
  return project && restPath`/${project}/_apis/alert/repositories/${repository.id}/alerts`
}

type AlertList = { repository: HostRepository; type: HostAlertType; path: string }

/** Null where Advanced Security is not enabled, or its alerts may not be read. */
async function listWindow(
  api: AzureApi,
  { repository, type, path }: AlertList,
  { window, from }: Cursor,
): Promise<HostAlert[] | null> {
  const ago = (age: number | null | undefined) => (age ? new Date(Date.parse(from) - age) : undefined)
  const query = {
    top: PAGE_ITEMS,
    'criteria.alertType': ALERT_WORDS[type],
    'criteria.modifiedSince': ago(WINDOWS_MS[window])?.toISOString(),
  }
  const unchangedSince = window === 0 ? new Date(from) : (ago(WINDOWS_MS[window - 1]) as Date)
  const list = await api.readList({ path, query, security: true })
  return list && api.parseItems(list.values, (alert) => parseAlert(alert, repository, unchangedSince))
}
