import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { IntelSettings } from '../../../config.ts'
import type { Services } from '../../../services.ts'
import { fetchFile } from './fetch-file.ts'
import { importEpss } from './import-epss.ts'
import { importKev } from './import-kev.ts'
import { importOsv } from './import-osv.ts'

type Import = (services: Services, path: string) => Promise<unknown>

const silent = () => {}

const IMPORTS = {
  kev: (services, path) => importKev(services, path, silent),
  epss: (services, path) => importEpss(services, path, silent),
  osv: (services, path) => importOsv(services, [path], silent),
} satisfies Record<string, Import>

/**
 * Fetches what the settings name and imports it, each address by itself: one that fails leaves what is stored of it, and the
 * others go on. Throws what went wrong once all were tried.
 */
export async function fetchIntel(services: Services, settings: IntelSettings): Promise<void> {
  const errors: unknown[] = []
  for (const [url, imported] of addresses(settings)) {
    await fetchOne(services, settings, url, imported).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join(' '))
}

function addresses({ kevUrl, epssUrl, osvUrls }: IntelSettings): [string, Import][] {
  const single: [string | null, Import][] = [
    [kevUrl, IMPORTS.kev],
    [epssUrl, IMPORTS.epss],
  ]
  return [...single, ...osvUrls.map((url): [string, Import] => [url, IMPORTS.osv])].flatMap(([url, imported]) =>
    url === null ? [] : [[url, imported] as [string, Import]],
  )
}

async function fetchOne(services: Services, { hosts }: IntelSettings, url: string, imported: Import): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-intel-'))
  try {
    const path = join(directory, basename(new URL(url).pathname) || 'file')
    await fetchFile(url, path, hosts)
    await imported(services, path)
    services.log.info({ url }, 'intelligence was fetched and imported')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
