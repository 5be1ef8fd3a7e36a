import { countAliases } from '../security/intel/aliases/alias.store.ts'
import { importEpss } from '../security/intel/sources/import-epss.ts'
import { importKev } from '../security/intel/sources/import-kev.ts'
import { importOsv } from '../security/intel/sources/import-osv.ts'
import { listSources } from '../security/intel/sources/intel-source.store.ts'
import type { ImportOutcome, SourceName } from '../security/intel/sources/intel-source.ts'
import type { Tell } from '../security/intel/sources/reading-progress.ts'
import type { Services } from '../services.ts'
import { administer } from './administer.ts'
import { defineCommand, UsageError } from './command.ts'
import { table } from './table.ts'

type Files = { kev: string | undefined; epss: string | undefined; osv: string[] }
type Outcomes = Partial<Record<SourceName, ImportOutcome>>

export const intelImport = defineCommand({
  name: 'intel import',
  about: 'Imports vulnerability intelligence from files. Findings show it at once.',
  arguments: [],
  options: {
    kev: { type: 'text', value: 'kev.json', about: "CISA's catalogue of known exploited vulnerabilities" },
    epss: { type: 'text', value: 'epss.csv[.gz]', about: "FIRST's EPSS scores of a day" },
    osv: {
      type: 'list',
      value: 'file.json|all.zip',
      about: 'OSV records: one, a directory, or a zip file; may be repeated',
    },
  },
  async run(context, _given, files) {
    if (files.kev === undefined && files.epss === undefined && files.osv.length === 0)
      throw new UsageError('No file is given: --kev, --epss or --osv')
    const outcomes = await administer(context, (services) => importFiles(services, files, context.say))
    const rows = Object.entries(outcomes).map(([source, outcome]) => [source, ...outcomeCells(outcome)])
    context.print({ json: outcomes, text: table(OUTCOME_HEADING, rows, '') })
  },
})

const OUTCOME_HEADING = ['SOURCE', 'AS OF', 'READ', 'ADDED', 'CHANGED', 'REMOVED', 'UNCHANGED']

function outcomeCells({ as_of, records, added, changed, removed, unchanged }: ImportOutcome): string[] {
  return [as_of, ...[records, added, changed, removed, unchanged].map(String)]
}

/** One after the other, each by itself: what was imported before a broken file stays. */
async function importFiles(services: Services, { kev, epss, osv }: Files, tell: Tell): Promise<Outcomes> {
  const outcomes: Outcomes = {}
  if (kev !== undefined) outcomes.kev = await importKev(services, kev, tell)
  if (epss !== undefined) outcomes.epss = await importEpss(services, epss, tell)
  if (osv.length > 0) outcomes.osv = await importOsv(services, osv, tell)
  return outcomes
}

export const intelStatus = defineCommand({
  name: 'intel status',
  about: 'Tells what intelligence is stored, and as of when.',
  arguments: [],
  options: {},
  async run(context) {
    const { sources, aliases } = await administer(context, async ({ sql }) => ({
      sources: await listSources(sql),
      aliases: await countAliases(sql),
    }))
    const json = Object.fromEntries(sources.map(({ source, ...status }) => [source, status]))
    const rows = sources.map(({ source, as_of, records, imported_at }) => [
      source,
      as_of ?? 'never',
      `${records}`,
      imported_at?.toISOString() ?? '',
    ])
    const text = table(['SOURCE', 'AS OF', 'RECORDS', 'IMPORTED AT'], rows, '')
    context.print({
      json: { ...json, aliases },
      text: `${text}\n${aliases.ids} ids of ${aliases.groups} vulnerabilities`,
    })
  },
})
