import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { IntelSettings } from '../../config.ts'
import type { ScheduledJob } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { fetchFile } from './fetch-file.ts'
import { importEpss, importKev } from './import-full-source.ts'
import { importOsv } from './import-osv.ts'

/** Runs once a day, at an unusual minute to spread the load, if the settings contain addresses. */
export const fetchIntelDaily: ScheduledJob<Services> = {
  name: 'security.fetch-intel',
  schedule: '43 4 * * *',
  async run(services): Promise<void> {
    const { intel } = services.config
    if (intel !== null) await fetchIntel(services, intel)
  },
}

/**
 * Downloads and imports every address in the settings. A failure does not stop the others: all
 * failures are thrown together at the end.
 */
export async function fetchIntel(services: Services, settings: IntelSettings): Promise<void> {
  const errors: unknown[] = []
  for (const source of sourcesOf(settings)) {
    await fetchSource(services, settings.hosts, source).catch((error) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join(' '))
}

type Source = { url: string | null; importFile: (services: Services, path: string) => Promise<unknown> }

const silent = () => {}

function sourcesOf({ kevUrl, epssUrl, osvUrls }: IntelSettings): Source[] {
  return [
    { url: kevUrl, importFile: (services, path) => importKev(services, path, silent) },
    { url: epssUrl, importFile: (services, path) => importEpss(services, path, silent) },
    ...osvUrls.map((url): Source => ({ url, importFile: (services, path) => importOsv(services, [path], silent) })),
  ]
}

async function fetchSource(services: Services, hosts: readonly string[], { url, importFile }: Source): Promise<void> {
  if (url === null) return
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-intel-'))
  try {
    const path = join(directory, basename(new URL(url).pathname) || 'file')
    await fetchFile(url, path, hosts)
    await importFile(services, path)
    services.log.info({ url }, 'Vulnerability intelligence was imported')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
