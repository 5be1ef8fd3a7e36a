import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants

export type PackedReport = { n: number; commit: string; sarif: { runs: SarifRun[] } }
export type SarifRun = { results?: SarifResult[] }
type SarifResult = { locations?: { physicalLocation?: { artifactLocation?: { uri?: string } } }[] }

/** Where the data of one repository comes from, in `sources.json`. */
export type Source = { address: string; licence: string; checkout: string; commits: string[] }
export type Sources = {
  repositories: Record<string, Source>
  tools: Record<string, { version: string; licence: string; address: string }>
}

export const DATA_DIRECTORY = join(import.meta.dirname, 'data')

export function readSource(repository: string): Source {
  const sources = JSON.parse(readFileSync(join(DATA_DIRECTORY, 'sources.json'), 'utf8')) as Sources
  const source = sources.repositories[repository]
  if (source === undefined) throw new Error(`sources.json has no repository ${repository}`)
  return source
}

/** The reports of all tools of a repository. */
export function readPackedReports(repository: string): PackedReport[] {
  const directory = join(DATA_DIRECTORY, repository)
  const names = readdirSync(directory).filter((name) => name.endsWith('.jsonl.br') && !name.includes('.hashes.'))
  return names.flatMap((name) => {
    const lines = brotliDecompressSync(readFileSync(join(directory, name)))
      .toString('utf8')
      .split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as PackedReport)
  })
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
