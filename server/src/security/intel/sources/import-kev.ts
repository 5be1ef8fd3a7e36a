import type { Services } from '../../../services.ts'
import { importFullSource } from './import-full-source.ts'
import type { ImportOutcome } from './intel-source.ts'
import { type KevEntry, parseKev } from './kev.parser.ts'
import { copyKev, mergeKev } from './kev.store.ts'
import { namingTheFile } from './naming-the-file.ts'
import { openIntelFile } from './open-intel-file.ts'
import type { Tell } from './reading-progress.ts'

const KEV = {
  name: 'kev',
  what: 'KEV entries',
  parse: parseKev,
  copy: copyKev,
  toRow: ({ cve_id, date_added, due_date, ransomware }: KevEntry) => [cve_id, date_added, due_date, ransomware],
  merge: mergeKev,
} as const

/** Imports CISA's catalogue of known exploited vulnerabilities from a file. Throws IntelError. */
export function importKev(services: Services, path: string, tell: Tell): Promise<ImportOutcome> {
  return namingTheFile(path, () => importFullSource(services, KEV, openIntelFile(path), tell))
}
