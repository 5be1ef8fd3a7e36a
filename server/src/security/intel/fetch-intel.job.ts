import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { ConnectionError } from '@shiplock/network/connection-error'
import type { IntelSettings } from '../../config.ts'
import { fetchOutside } from '../../platform/outbound/guarded-fetch.ts'
import { defineScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { importOsv } from './import-osv.ts'
import { INTELLIGENCE, importEpss, importKev } from './import-source.ts'
import { IntelError } from './intel-file.ts'

/** Runs once a day, at an unusual minute to spread the load, if the settings contain addresses. */
export const fetchIntelDaily = defineScheduledJob<Services>('security.fetch-intel', {
  class: 'bulk',
  waitsFor: INTELLIGENCE,
  schedule: '43 4 * * *',
  async run(services): Promise<void> {
    const { intel } = services.config
    if (intel !== null) await fetchIntel(services, intel)
  },
})

/**
 * Downloads and imports every address in the settings. A failure does not stop the others: all
 * failures are thrown together at the end.
 */
export async function fetchIntel(services: Services, settings: IntelSettings): Promise<void> {
  const { kevUrl, epssUrl, osvUrls, hosts } = settings
  const sources: Source[] = [
    { url: kevUrl, importFile: (path) => importKev(services, path, silent) },
    { url: epssUrl, importFile: (path) => importEpss(services, path, silent) },
    ...osvUrls.map((url): Source => ({ url, importFile: (path) => importOsv(services, [path], silent) })),
  ]
  const errors: unknown[] = []
  for (const source of sources) {
    await fetchSource(services, hosts, source).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join(' '))
}

type Source = { url: string | null; importFile: (path: string) => Promise<unknown> }

const silent = () => {}

async function fetchSource(services: Services, hosts: readonly string[], { url, importFile }: Source): Promise<void> {
  if (url === null) return
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-intel-'))
  try {
    const path = join(directory, basename(new URL(url).pathname) || 'file')
    await fetchFile(url, path, hosts)
    await importFile(path)
    services.log.info({ url }, 'Vulnerability intelligence was imported')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The largest file is OSV's archive of all ecosystems. */
const SIZE_BYTES_MAX = 4 * 1024 ** 3
const TIMEOUT_MS = 30 * 60_000
const REDIRECTS_MAX = 5

/**
 * Downloads a file to a path. Every host, also of a redirect, must be in `hosts`. Throws
 * IntelError.
 */
async function fetchFile(url: string, path: string, hosts: readonly string[]): Promise<void> {
  const response = await follow(url, hosts, AbortSignal.timeout(TIMEOUT_MS))
  if (response.body === null) throw new IntelError(`${url}: The response has no body.`)
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>)
  await pipeline(body, bounded(url), createWriteStream(path, { mode: 0o600 }))
}

async function follow(first: string, hosts: readonly string[], signal: AbortSignal): Promise<Response> {
  let url = first
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const { host } = new URL(url)
    if (!hosts.includes(host)) throw new IntelError(`${first}: The host ${host} is not allowed.`)
    const response = await request(url, signal)
    const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (next === null) return response
    url = new URL(next, url).href
  }
  throw new IntelError(`${first}: There are more than ${REDIRECTS_MAX} redirects.`)
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  const response = await fetchOutside(url, { redirect: 'manual', signal }).catch((error) => {
    const reason = error instanceof ConnectionError ? error.message : (error.cause?.message ?? error.message)
    throw new IntelError(`${url}: The request failed: ${reason}.`)
  })
  if (response.status >= 400) throw new IntelError(`${url}: The server responded with status ${response.status}.`)
  return response
}

function bounded(url: string) {
  return async function* (source: AsyncIterable<Uint8Array>) {
    let size = 0
    for await (const chunk of source) {
      size += chunk.length
      if (size > SIZE_BYTES_MAX) throw new IntelError(`${url}: The file is larger than ${SIZE_BYTES_MAX} bytes.`)
      yield chunk
    }
  }
}
