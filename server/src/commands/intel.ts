import { UsageError } from '@shiplock/command-line/options'
import { countAliases } from '../security/intel/alias.store.ts'
import { importOsv } from '../security/intel/import-osv.ts'
import { type ImportOutcome, importEpss, importKev, type PrintLine } from '../security/intel/import-source.ts'
import { listSources, type SourceName } from '../security/intel/intel-source.store.ts'
import type { Services } from '../services.ts'
import { defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

type Files = { kev: string | undefined; epss: string | undefined; osv: string[] }
type Outcomes = Partial<Record<SourceName, ImportOutcome>>

export const intelImport = defineCommand({
  name: 'intel import',
  about: 'Imports vulnerability intelligence from files. Findings show it immediately.',
  arguments: [],
  options: {
    kev: { type: 'text', value: 'kev.json', about: "CISA's catalog of known exploited vulnerabilities (KEV)" },
    epss: {
      type: 'text',
      value: 'epss.csv[.gz]',
      about: "a day's EPSS scores from FIRST, optionally compressed with gzip",
    },
    osv: {
      type: 'list',
      value: 'file.json|all.zip',
      about: 'OSV records: a file, a directory or a zip file; can be repeated',
    },
  },
  async run(context, _given, files) {
    if (files.kev === undefined && files.epss === undefined && files.osv.length === 0)
      throw new UsageError('Specify at least one file with --kev, --epss or --osv')
    const outcomes = await withServices(context, (services) => importFiles(services, files, context.say))
    const rows = Object.entries(outcomes).map(([source, outcome]) => [source, ...outcomeCells(outcome)])
    context.print({ json: outcomes, text: formatTable(OUTCOME_HEADING, rows, '') })
  },
})

const OUTCOME_HEADING = ['SOURCE', 'AS OF', 'READ', 'ADDED', 'CHANGED', 'REMOVED', 'UNCHANGED']

function outcomeCells({ as_of, records, added, changed, removed, unchanged }: ImportOutcome): string[] {
  return [as_of, ...[records, added, changed, removed, unchanged].map(String)]
}

/** Each file is imported separately. If one import fails, the earlier ones are kept. */
async function importFiles(services: Services, { kev, epss, osv }: Files, print: PrintLine): Promise<Outcomes> {
  const outcomes: Outcomes = {}
  if (kev !== undefined) outcomes.kev = await importKev(services, kev, print)
  if (epss !== undefined) outcomes.epss = await importEpss(services, epss, print)
  if (osv.length > 0) outcomes.osv = await importOsv(services, osv, print)
  return outcomes
}

export const intelStatus = defineCommand({
  name: 'intel status',
  about: 'Shows the stored vulnerability intelligence with its dates.',
  arguments: [],
  options: {},
  async run(context) {
    const { sources, aliases } = await withServices(context, async ({ sql }) => ({
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
    const text = formatTable(['SOURCE', 'AS OF', 'RECORDS', 'IMPORTED AT'], rows, '')
    context.print({
      json: { ...json, aliases },
      text: `${text}\n${aliases.ids} ids of ${aliases.groups} vulnerabilities`,
    })
  },
})
