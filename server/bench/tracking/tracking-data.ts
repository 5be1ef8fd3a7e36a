import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, constants } from 'node:zlib'
import type { FileMap } from './line-fate.ts'
import { type ReportedResult, readResults, type SarifLog } from './reported-result.ts'

/** Histories of public repositories; sources.json names their origin and licenses. */
export const DATA = fileURLToPath(new URL('./data/', import.meta.url))

/** A repository's reports of consecutive commits, and where each line went between them. */
export type History = {
  repository: string
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
  /** By result: GitHub's hash of the flagged line; null if the result has no line. */
  lineHashes: (string | null)[]
}

export type Selection = { data: string; repository: string | null; tool: string | null }

type Sources = { repositories: Record<string, { checkout: string }> }
type ReportLine = { n: number; commit: string; sarif: SarifLog }
type HashLine = { n: number; hashes: (string | null)[] }

const REPORTS = '.jsonl.br'
const HASHES = '.hashes.jsonl.br'

/** Names of the selected repositories, as `owner__name`. */
export function repositoriesOf({ data, repository }: Selection): string[] {
  const names = Object.keys(readSources(data).repositories).sort()
  return repository === null ? names : names.filter((name) => name.includes(repository.replace('/', '__')))
}

/** Reads one repository. Memory holds one at a time, because its reports may be large. */
export function readHistory({ data, tool }: Selection, repository: string): History {
  const directory = join(data, repository)
  const checkout = checkoutOf(data, repository)
  const lines = JSON.parse(unpack(join(directory, 'lines.json.br'))) as Pick<History, 'commits' | 'steps'>
  const scans = toolsIn(directory)
    .filter((name) => tool === null || name === tool)
    .map((name) => ({ tool: name, reports: readReports(directory, name, checkout) }))
  return { repository, commits: lines.commits, steps: lines.steps, scans }
}

/** The directory in which the scanners saw the repository. Some write it before every path. */
export function checkoutOf(data: string, repository: string): string {
  return readSources(data).repositories[repository]?.checkout ?? ''
}

export function toolsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(REPORTS) && !file.endsWith(HASHES))
    .map((file) => file.slice(0, -REPORTS.length))
    .sort()
}

/** One object per line. */
export function readLines<Line>(path: string): Line[] {
  return unpack(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

export function reportFile(directory: string, tool: string): string {
  return join(directory, tool + REPORTS)
}

export function hashFile(directory: string, tool: string): string {
  return join(directory, tool + HASHES)
}

function readReports(directory: string, tool: string, checkout: string): Map<number, ScanReport> {
  const hashes = existsSync(hashFile(directory, tool)) ? readLines<HashLine>(hashFile(directory, tool)) : []
  const hashesOf = new Map(hashes.map((line) => [line.n, line.hashes]))
  return new Map(
    readLines<ReportLine>(reportFile(directory, tool)).map(({ n, commit, sarif }) => {
      const results = readResults(sarif, checkout)
      return [n, { commit, sarif, results, lineHashes: hashesOf.get(n) ?? results.map(() => null) }]
    }),
  )
}

function readSources(data: string): Sources {
  return JSON.parse(readFileSync(join(data, 'sources.json'), 'utf8'))
}

function unpack(path: string): string {
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 }
  return brotliDecompressSync(readFileSync(path), { params }).toString('utf8')
}
