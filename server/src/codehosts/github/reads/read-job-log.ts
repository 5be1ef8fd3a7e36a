import { isLoopback } from '../../../platform/loopback.ts'
import { HostUnavailable } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { GithubApi } from '../client/github-api.ts'

const TIME_LIMIT_MS = 30_000

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
  return download(address, bytesMax)
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

async function download(address: URL, bytesMax: number): Promise<string | null> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS)
  const response = await fetch(address.href, { redirect: 'manual', signal }).catch(failed)
  if (response.ok && response.body !== null) return readEnd(response.body, bytesMax)
  await response.body?.cancel()
  if (response.status >= 500) throw new HostUnavailable(`The storage of logs answered ${response.status}.`)
  return null
}

/** The addresses of storage contain a signature, so they are not part of the message. */
function failed(error: unknown): never {
  throw new HostUnavailable(`The storage of logs cannot be read: ${(error as Error).name}.`)
}

async function readEnd(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<string> {
  const end = new EndOfStream(bytesMax)
  try {
    for await (const chunk of body) end.add(chunk)
  } catch (error) {
    failed(error)
  }
  return end.text()
}

/** Keeps the end of a stream in memory that is bounded by `bytesMax` and one chunk. */
class EndOfStream {
  readonly #bytesMax: number
  #chunks: Uint8Array[] = []
  #size = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= this.#bytesMax) {
      this.#size -= this.#chunks.shift()?.length ?? 0
    }
  }

  /** The first character may be cut: its remaining bytes (10xxxxxx in UTF-8) are left out. */
  text(): string {
    const kept = Buffer.concat(this.#chunks).subarray(-this.#bytesMax)
    let start = 0
    if (kept.length === this.#bytesMax) while (start < 3 && ((kept[start] ?? 0) & 0xc0) === 0x80) start += 1
    return kept.subarray(start).toString().replaceAll('\0', '')
  }
}
