import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FileMap } from './line-map.ts'
import { type PackedReport, readPacked, readPackedLines, readSource, readSources, toolsOf } from './packed-data.ts'
import { type ReportedResult, readResults, type SarifLog } from './reported-result.ts'

/** A repository's reports of consecutive commits, and where each line went between them. */
export type History = {
  repository: string
  /** The directory in which the scanners saw the repository. Some write it before every path. */
  checkout: string
  commits: string[]
  /** Step n leads from commit n to commit n + 1. */
  steps: { files: Record<string, FileMap> }[]
  scans: Scan[]
}

/** The reports of one scanner, by number of the commit. Commits without a report are absent. */
export type Scan = { tool: string; reports: Map<number, ScanReport> }

export type ScanReport = {
  commit: string
  sarif: SarifLog
  results: ReportedResult[]
  /** By result: GitHub's hash of the flagged line; null if it is not known. */
  lineHashes: (string | null)[]
}

/** Which part of the data is measured. Null selects everything. */
export type Selection = { data: string; repository: string | null; tool: string | null }

type HashLine = { n: number; hashes: (string | null)[] }

/** Names of the selected repositories, as `owner__name`. */
export function repositoriesOf({ data, repository }: Selection): string[] {
  const names = Object.keys(readSources(data).repositories).sort()
  return repository === null ? names : names.filter((name) => name.includes(repository.replace('/', '__')))
}

/** Reads one repository. Memory holds one at a time, because its reports may be large. */
export function readHistory({ data, tool }: Selection, repository: string): History {
  const directory = join(data, repository)
  const { checkout } = readSource(repository, data)
  const lines = JSON.parse(readPacked(join(directory, 'lines.json.br'))) as Pick<History, 'commits' | 'steps'>
  const scans = toolsOf(repository, data)
    .filter((name) => tool === null || name === tool)
    .map((name) => ({ tool: name, reports: readReports(directory, name, checkout) }))
  return { repository, checkout, commits: lines.commits, steps: lines.steps, scans }
}

/** Where collect-line-hashes.ts writes the line hashes of a tool's results. */
export function hashFile(directory: string, tool: string): string {
  return join(directory, `${tool}.hashes.jsonl.br`)
}

function readReports(directory: string, tool: string, checkout: string): Map<number, ScanReport> {
  const hashes = existsSync(hashFile(directory, tool)) ? readPackedLines<HashLine>(hashFile(directory, tool)) : []
  const hashesOf = new Map(hashes.map((line) => [line.n, line.hashes]))
  const reports = readPackedLines<PackedReport<SarifLog>>(join(directory, `${tool}.jsonl.br`))
  return new Map(
    reports.map(({ n, commit, sarif }) => {
      const results = readResults(sarif, checkout)
      return [n, { commit, sarif, results, lineHashes: hashesOf.get(n) ?? results.map(() => null) }]
    }),
  )
}
