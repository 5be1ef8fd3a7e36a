import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants

export type PackedReport<Sarif = { runs: SarifRun[] }> = { n: number; commit: string; sarif: Sarif }
export type SarifRun = { results?: SarifResult[] }
type SarifResult = { locations?: { physicalLocation?: { artifactLocation?: { uri?: string } } }[] }

/** Where the data of one repository comes from, in `sources.json`. */
export type Source = { address: string; licence: string; checkout: string; commits: string[] }
export type Sources = {
  repositories: Record<string, Source>
  tools: Record<string, { version: string; licence: string; address: string }>
}

/** Histories of public repositories. The README there describes the files. */
export const DATA_DIRECTORY = join(import.meta.dirname, 'data')

export function readSources(data = DATA_DIRECTORY): Sources {
  return JSON.parse(readFileSync(join(data, 'sources.json'), 'utf8')) as Sources
}

export function readSource(repository: string, data = DATA_DIRECTORY): Source {
  const source = readSources(data).repositories[repository]
  if (source === undefined) throw new Error(`sources.json has no repository ${repository}`)
  return source
}

/** Names of the tools that have reports of a repository. */
export function toolsOf(repository: string, data = DATA_DIRECTORY): string[] {
  return readdirSync(join(data, repository))
    .filter((name) => name.endsWith('.jsonl.br') && !name.includes('.hashes.'))
    .map((name) => name.slice(0, -'.jsonl.br'.length))
    .sort()
}

/** The reports of all tools of a repository. */
export function readPackedReports(repository: string): PackedReport[] {
  return toolsOf(repository).flatMap((tool) =>
    readPackedLines<PackedReport>(join(DATA_DIRECTORY, repository, `${tool}.jsonl.br`)),
  )
}

/** The JSON values of a packed file, one a line. */
export function readPackedLines<Line>(path: string): Line[] {
  const lines = readPacked(path).split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line)
}

export function readPacked(path: string): string {
  return brotliDecompressSync(readFileSync(path)).toString('utf8')
}

/** Compresses a text with the widest window that every decoder reads. */
export function writePacked(path: string, text: string): number {
  const bytes = Buffer.from(text)
  const params = {
    [BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const packed = brotliCompressSync(bytes, { params })
  writeFileSync(path, packed)
  return packed.length
}
