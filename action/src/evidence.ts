import { extname } from 'node:path'
import { collectEvidence as readFiles } from '@shiplock/report-readers/evidence'
import { describeLeftOut, findFiles, MissingFileError } from '@shiplock/report-readers/find-files'
import type { FoundFile } from '@shiplock/report-readers/found-file'
import { type Place, WorkingDirectory } from '@shiplock/report-readers/working-directory'
import type { ReportFile } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { type Attestation, type FileInput, InputError, type Inputs, refusedLink } from './inputs.ts'

/** What the job has to show. `lines` and `warnings` say for people what was read. */
export type Evidence = { attestations: Attestation[]; files: ReportFile[]; lines: string[]; warnings: string[] }

const ATTESTATIONS_MAX = 20
const FILES_MAX = 50

/** Reads the files that the inputs name. Throws an `InputError` if one is missing or cannot be read. */
export async function collectEvidence(inputs: Inputs): Promise<Evidence> {
  const collection = new Collection(inputs)
  for (const input of ['junit', 'coverage', 'sbom', 'scan', 'artifacts'] as const) {
    await collection.read(input, inputs.files[input])
  }
  await collection.addOwnership(inputs.files.ownership)
  return collection.evidence()
}

const NONE = { junit: [], coverage: [], sbom: [], scan: [], artifacts: [] }
const NOTHING = { ...NONE, threshold: null, failOn: null }

class Collection {
  readonly #place: Place
  readonly #retries: Inputs['retries']
  readonly #directory: WorkingDirectory
  readonly #attestations: Attestation[]
  readonly #lines: string[] = []
  readonly #warnings: string[] = []
  /** The files by their path in the report. */
  readonly #files = new Map<string, FoundFile>()

  constructor({ place, attestations, retries }: Inputs) {
    this.#place = place
    this.#retries = retries
    this.#directory = new WorkingDirectory(place)
    this.#attestations = [...attestations]
  }

  async read(input: FileInput, lines: string[]): Promise<void> {
    const files = await this.#find(input, lines)
    const named = { ...NOTHING, retries: this.#retries, [input]: files.map(({ path }) => path) }
    const read = await this.#naming(input, () => readFiles(named, { ...this.#place, allowMissing: false }))
    this.#attestations.push(...read.attestations)
    this.#lines.push(...read.lines)
    this.#warnings.push(...read.warnings)
    if (input !== 'junit' && input !== 'coverage') for (const file of files) this.#addFile(input, file)
  }

  async addOwnership(lines: string[]): Promise<void> {
    for (const file of await this.#find('ownership', lines)) {
      const artifact = this.#addFile('ownership', file)
      const format = extname(file.path).toLowerCase() === '.json' ? 'json' : 'codeowners'
      this.#attestations.push({ kind: 'ownership', name: 'ownership', data: { format, artifact } })
      this.#lines.push(`Ownership: ${artifact}`)
    }
  }

  evidence(): Evidence {
    if (this.#files.size > FILES_MAX) {
      throw new InputError('artifacts', `a report has at most ${FILES_MAX} files, and these are ${this.#files.size}.`)
    }
    if (this.#attestations.length > ATTESTATIONS_MAX) {
      throw new InputError(
        'attestations',
        `a report has at most ${ATTESTATIONS_MAX} attestations, those of files included.`,
      )
    }
    const files = [...this.#files].map(([path, file]) => ({ path, source: fileSource(file.path, () => file.open()) }))
    return { attestations: this.#attestations, files, lines: this.#lines, warnings: this.#warnings }
  }

  /**
   * The files that the lines of an input name: paths, directories and globs, and with `!` in front
   * the files to leave out. Throws an `InputError` if a line matches no file.
   */
  async #find(input: FileInput, lines: string[]): Promise<FoundFile[]> {
    const patterns = lines.filter((line) => !line.startsWith('!'))
    const ignore = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const search = { ...this.#place, allowMissing: false }
    const { files, leftOut } = await this.#naming(input, () =>
      findFiles({ option: input, patterns, ignore, dot: true }, search),
    )
    const line = describeLeftOut(leftOut)
    if (line !== null) this.#lines.push(line)
    return files
  }

  /** Returns the path of the file in the report. */
  #addFile(input: FileInput, file: FoundFile): string {
    const path = this.#directory.artifactPath(file)
    const known = this.#files.get(path)
    if (known !== undefined && known.path !== file.path) {
      throw new InputError(
        input,
        `"${known.path}" and "${file.path}" would have the same path "${path}" in the report.`,
      )
    }
    this.#files.set(path, file)
    return path
  }

  /** Names the input in the error of a file. */
  async #naming<T>(input: FileInput, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof MissingFileError) throw missingFile(input, error)
      throw refusedLink(input, error) ?? new InputError(input, `${(error as Error).message}.`)
    }
  }
}

function missingFile(input: FileInput, { pattern, hasLinks }: MissingFileError): InputError {
  const hint = hasLinks ? '; "follow-links: true" looks behind links to directories' : ''
  return new InputError(input, `no file matches "${pattern}"${hint}.`)
}
