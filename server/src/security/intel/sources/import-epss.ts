import type { Services } from '../../../services.ts'
import { type EpssScore, parseEpss } from './epss.parser.ts'
import { copyEpss, mergeEpss } from './epss.store.ts'
import { importFullSource } from './import-full-source.ts'
import type { ImportOutcome } from './intel-source.ts'
import { namingTheFile } from './naming-the-file.ts'
import { openIntelFile } from './open-intel-file.ts'
import type { Tell } from './reading-progress.ts'

const EPSS = {
  name: 'epss',
  what: 'EPSS scores',
  parse: parseEpss,
  copy: copyEpss,
  toRow: ({ cve_id, score, percentile }: EpssScore) => [cve_id, score, percentile],
  merge: mergeEpss,
} as const

/** Imports a day's EPSS scores from a file, compressed with gzip or not. Throws IntelError. */
export function importEpss(services: Services, path: string, tell: Tell): Promise<ImportOutcome> {
  return namingTheFile(path, () => importFullSource(services, EPSS, openIntelFile(path), tell))
}
