import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostAlert, HostAlertType } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, readAs } from '../../kit/payload.ts'
import { hasLocation, parseCodeScanningAlert, parseDependabotAlert, parseSecretAlert } from './alert-parsers.ts'
import type { GithubApi } from './client.ts'

type AlertKind = {
  route: string
  /** `locations` is null where they are part of the alert. */
  parse: (value: unknown, repository: HostRepository, locations: unknown[] | null) => HostAlert
}

const KINDS: Readonly<Record<HostAlertType, AlertKind>> = {
  code_scanning: { route: 'GET /repos/{owner}/{repo}/code-scanning/alerts', parse: parseCodeScanningAlert },
  dependabot: { route: 'GET /repos/{owner}/{repo}/dependabot/alerts', parse: parseDependabotAlert },
  secret_scanning: { route: 'GET /repos/{owner}/{repo}/secret-scanning/alerts', parse: parseSecretAlert },
}

/** Without the function or the permission, a repository has no alerts. */
export function createAlertReads(api: GithubApi): Pick<HostReader, 'listAlerts' | 'readAlert'> {
  return {
    async listAlerts(repository, type, options) {
      const { route, parse } = KINDS[type]
      const parameters = { repository, sort: 'updated', direction: 'desc' }
      const page = await api.readPage(route, parameters, options, (value) => value)
      if (page === 'not_modified') return page
      const values = await Promise.all(page.items.map((value) => withLocations(api, repository, type, value)))
      return { ...page, items: api.parseItems(values, (item) => parse(...(item as Located))) }
    },

    async readAlert(repository, { type, number }) {
      const { route, parse } = KINDS[type]
      const alert = await api.read(`${route}/{alert_number}`, { repository, alert_number: number })
      return alert && parse(...(await withLocations(api, repository, type, alert)))
    },
  }
}

type Located = [alert: unknown, repository: HostRepository, locations: unknown[] | null]

/** Older servers list the locations of a secret separately. */
async function withLocations(
  api: GithubApi,
  repository: HostRepository,
  type: HostAlertType,
  alert: unknown,
): Promise<Located> {
  if (type !== 'secret_scanning' || hasLocation(alert)) return [alert, repository, null]
  const { number } = readAs(Type.Object({ number: Id }), alert)
  const route = `${KINDS[type].route}/{alert_number}/locations`
  return [alert, repository, await api.readAll(route, { repository, alert_number: number }, (location) => location)]
}
