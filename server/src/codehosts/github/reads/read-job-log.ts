import { isLoopback } from '../../../platform/loopback.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readEnd, readEndOf } from '../../kit/read-log-end.ts'
import type { GithubApi } from '../client/github-api.ts'

/**
 * The end of a job's log. GitHub answers with the address of a file in its storage, which is read
 * without our token. The address comes from GitHub over the authenticated connection. It is read
 * only if it leads to a host of GitHub's storage, so that it cannot lead into our own network.
 */
export async function readJobLog(
  api: GithubApi,
  repository: HostRepository,
  jobId: string,
  bytesMax: number,
): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs'
  const log = await api.openStream(route, { repository, job_id: jobId })
  if (log === null) return null
  if (log.body !== null) return readEnd(log.body, bytesMax)
  const { api_url } = await api.session.key()
  const address = log.location !== null && URL.canParse(log.location) ? new URL(log.location) : null
  if (address === null || !isLogAddress(address, new URL(api_url))) {
    api.log.warn({ host: address?.host }, 'The log of a job is not read: its host is not one of GitHub')
    return null
  }
  return readEndOf(address, bytesMax)
}

/** The hosts that keep logs: GitHub's own, and the storage that it rents. */
const LOG_HOSTS = ['.actions.githubusercontent.com', '.blob.core.windows.net']

/** The host of the API is always allowed: an Enterprise Server can keep the logs itself. */
export function isLogAddress(address: URL, api: URL): boolean {
  const isLocal = isLoopback(address.hostname) && isLoopback(api.hostname)
  if (address.protocol !== 'https:' && !(isLocal && address.protocol === 'http:')) return false
  if (isLocal || address.hostname === api.hostname) return true
  return LOG_HOSTS.some((suffix) => address.hostname.endsWith(suffix))
}
