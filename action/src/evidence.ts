import { extname } from 'node:path'
import { readCoverage } from '../../cli/src/report/coverage/coverage.ts'
import { describeSbom, describeScan } from '../../cli/src/report/documents/describe.ts'
import { ReportFileError } from '../../cli/src/report/file-text.ts'
import { readJunit } from '../../cli/src/report/junit.ts'
import { findFiles, toReportFile } from './files.ts'
import type { ReportFile } from './ingest.ts'
import { type Attestation, InputError, type Inputs } from './inputs.ts'

/** What the job has to show: its attestations, the files to store, and a line for each input. */
export type Evidence = { attestations: Attestation[]; files: ReportFile[]; results: Result[] }

/** One row of the summary. */
export type Result = { what: string; result: string }

const ATTESTATIONS_MAX = 20
const FILES_MAX = 50

/** Reads the files that the inputs name. Throws an `InputError` if one is missing or cannot be read. */
export async function collectEvidence({ files, attestations }: Inputs): Promise<Evidence> {
  const evidence = new Collection(attestations)
  await evidence.addTests(await findFiles('junit', files.junit))
  await evidence.addCoverage(await findFiles('coverage', files.coverage))
  for (const file of await findFiles('sbom', files.sbom)) await evidence.addSbom(file)
  for (const file of await findFiles('scan', files.scan)) await evidence.addScan(file)
  for (const file of await findFiles('ownership', files.ownership)) evidence.addOwnership(file)
  for (const file of await findFiles('artifacts', files.artifacts)) evidence.addFile('artifacts', file)
  return evidence.complete()
}

class Collection {
  readonly #attestations: Attestation[]
  readonly #files = new Map<string, { file: string; reported: ReportFile }>()
  readonly #results: Result[] = []

  constructor(attestations: Attestation[]) {
    this.#attestations = [...attestations]
  }

  async addTests(files: string[]): Promise<void> {
    if (files.length === 0) return
    const data = await read('junit', () => readJunit(files))
    const { passed, failed, errors, skipped } = data
    this.#add('test-results', 'tests', data)
    this.#show('Tests', `${passed} passed, ${failed + errors} failed, ${skipped} skipped`)
  }

  async addCoverage(files: string[]): Promise<void> {
    for (const file of files) {
      const { lines } = await read('coverage', () => readCoverage(file))
      this.#add('coverage', files.length === 1 ? 'coverage' : file, { lines })
      this.#show(files.length === 1 ? 'Coverage' : `Coverage in ${file}`, `${lines} % of the lines`)
    }
  }

  async addSbom(file: string): Promise<void> {
    const sbom = await read('sbom', () => describeSbom(file))
    const artifact = this.addFile('sbom', file)
    this.#add('sbom', artifact, { ...sbom, artifact })
    this.#show(`SBOM ${artifact}`, `${sbom.components} components`)
  }

  async addScan(file: string): Promise<void> {
    const scan = await read('scan', () => describeScan(file))
    const artifact = this.addFile('scan', file)
    const { tool, critical, high, medium, low } = scan
    this.#add('scan', artifact, { ...scan, artifact })
    this.#show(`Scan by ${tool}`, `${critical} critical, ${high} high, ${medium} medium, ${low} low`)
  }

  addOwnership(file: string): void {
    const artifact = this.addFile('ownership', file)
    const format = extname(file).toLowerCase() === '.json' ? 'json' : 'codeowners'
    this.#add('ownership', artifact, { format, artifact })
  }

  /** Returns the path of the file in the report. */
  addFile(input: string, file: string): string {
    const reported = toReportFile(file)
    const { path } = reported
    const known = this.#files.get(path)
    if (known && known.file !== file) {
      throw new InputError(input, `"${known.file}" and "${file}" would have the same path "${path}" in the report.`)
    }
    this.#files.set(path, { file, reported })
    return path
  }

  complete(): Evidence {
    const files = [...this.#files.values()].map(({ reported }) => reported)
    if (files.length > FILES_MAX) {
      throw new InputError('artifacts', `a report has at most ${FILES_MAX} files, not ${files.length}.`)
    }
    if (this.#attestations.length > ATTESTATIONS_MAX) {
      throw new InputError('attestations', `a report has at most ${ATTESTATIONS_MAX} attestations.`)
    }
    if (files.length > 0) this.#show('Files', String(files.length))
    return { attestations: this.#attestations, files, results: this.#results }
  }

  #add(kind: string, name: string, data: object): void {
    this.#attestations.push({ kind, name: name.slice(-NAME_MAX), data })
  }

  #show(what: string, result: string): void {
    this.#results.push({ what, result })
  }
}

const NAME_MAX = 100

/** Reads files, and names the input if that fails. */
async function read<T>(input: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ReportFileError ? new InputError(input, `${error.message}.`) : error
  }
}
