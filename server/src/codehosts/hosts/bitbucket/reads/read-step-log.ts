import { isLoopback } from '../../../../platform/loopback.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { readEnd, readEndOf } from '../../../kit/read-log-end.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { BitbucketApi } from '../client.ts'
import { bracedUuid } from '../client/uuid.ts'
import { idsOfJob } from '../runs.ts'

/**
 * The end of a step's log. Bitbucket answers with the log itself, or, after the step, with the
 * address of a file in its storage, which is read without our token. It is read only if it leads to
 * a host of that storage, so that it cannot lead into our own network.
 */
export async function readStepLog(
  api: BitbucketApi,
  repository: HostRepository,
  id: string,
  bytesMax: number,
): Promise<string | null> {
  const ids = idsOfJob(id)
  if (ids === null) return null
  const path = `${api.pipelinePath(repository, ids.run)}${restPath`/steps/${bracedUuid(ids.step)}/log`}`
  const response = await api.rest.open({ path, headers: { accept: '*/*' } })
  if (response === null) return null
  if (response.ok) return response.body === null ? '' : readEnd(response.body, bytesMax)
  const location = response.headers.get('location')
  const address = location !== null && URL.canParse(location) ? new URL(location) : null
  if (address !== null && isLogAddress(address, new URL(api.addresses.api))) return readEndOf(address, bytesMax)
  api.log.warn({ host: address?.host }, 'The log of a step is not read: its host is not one of Bitbucket')
  return null
}

/** The hosts that keep logs: Bitbucket's own, and the storage that it rents. */
const LOG_HOSTS = ['.bitbucket.org', '.atlassian.com', '.atl-paas.net', '.amazonaws.com']

export function isLogAddress(address: URL, api: URL): boolean {
  const isLocal = isLoopback(address.hostname) && isLoopback(api.hostname)
  if (address.protocol !== 'https:' && !(isLocal && address.protocol === 'http:')) return false
  if (isLocal || address.hostname === api.hostname) return true
  return LOG_HOSTS.some((suffix) => address.hostname.endsWith(suffix))
}
