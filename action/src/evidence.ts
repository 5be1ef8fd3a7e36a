import { statSync } from 'node:fs'
import { extname, resolve, sep } from 'node:path'
import { collectEvidence as readFiles } from '@shiplock/report-readers/evidence'
import { artifactPath } from '@shiplock/report-readers/find-files'
import type { ReportFile } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { glob } from 'tinyglobby'
import { type Attestation, type FileInput, InputError, type Inputs } from './inputs.ts'

/** What the job has to show. `lines` says for people what was read. */
export type Evidence = { attestations: Attestation[]; files: ReportFile[]; lines: string[] }

const ATTESTATIONS_MAX = 20
const FILES_MAX = 50

/** Reads the files that the inputs name. Throws an `InputError` if one is missing or cannot be read. */
export async function collectEvidence(inputs: Inputs): Promise<Evidence> {
  const collection = new Collection(inputs.attestations)
  for (const input of ['junit', 'coverage', 'sbom', 'scan', 'artifacts'] as const) {
    await collection.read(input, await findFiles(input, inputs.files[input]))
  }
  for (const file of await findFiles('ownership', inputs.files.ownership)) collection.addOwnership(file)
  return collection.evidence()
}

const NOTHING = { junit: [], coverage: [], sbom: [], scan: [], artifacts: [], threshold: null, failOn: null }

class Collection {
  readonly #cwd = process.cwd()
  readonly #attestations: Attestation[]
  readonly #lines: string[] = []
  /** The files by their path in the report. */
  readonly #files = new Map<string, string>()

  constructor(attestations: Attestation[]) {
    this.#attestations = [...attestations]
  }

  async read(input: FileInput, files: string[]): Promise<void> {
    const read = await this.#named(input, () =>
      readFiles({ ...NOTHING, [input]: files }, { cwd: this.#cwd, allowMissing: false }),
    )
    this.#attestations.push(...read.attestations)
    this.#lines.push(...read.lines)
    if (input !== 'junit' && input !== 'coverage') for (const file of files) this.#addFile(input, file)
  }

  addOwnership(file: string): void {
    const artifact = this.#addFile('ownership', file)
    const format = extname(file).toLowerCase() === '.json' ? 'json' : 'codeowners'
    this.#attestations.push({ kind: 'ownership', name: 'ownership', data: { format, artifact } })
    this.#lines.push(`Ownership: ${artifact}`)
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
    const files = [...this.#files].map(([path, file]) => ({ path, source: fileSource(file) }))
    return { attestations: this.#attestations, files, lines: this.#lines }
  }

  /** Returns the path of the file in the report. */
  #addFile(input: FileInput, file: string): string {
    const path = artifactPath(this.#cwd, file)
    const known = this.#files.get(path)
    if (known !== undefined && known !== file) {
      throw new InputError(input, `"${known}" and "${file}" would have the same path "${path}" in the report.`)
    }
    this.#files.set(path, file)
    return path
  }

  /** Names the input in the error of a file. */
  async #named<T>(input: FileInput, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw new InputError(input, `${(error as Error).message}.`)
    }
  }
}

/**
 * The files that the lines of an input name: paths, directories and globs, and with `!` in front the
 * files to leave out. Absolute and sorted. Throws an `InputError` if a line matches no file.
 */
async function findFiles(input: FileInput, lines: string[]): Promise<string[]> {
  const ignore = lines.filter((line) => line.startsWith('!')).map((line) => toGlob(line.slice(1)))
  const found = new Set<string>()
  for (const line of lines.filter((line) => !line.startsWith('!'))) {
    const files = isFile(line) ? [line] : await glob(toGlob(line), { ignore, dot: true })
    if (files.length === 0) throw new InputError(input, `no file matches "${line}".`)
    for (const file of files) found.add(resolve(file))
  }
  return [...found].sort()
}

/** The name of an existing file may contain characters of a glob, such as `[id].xml`. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Globs have slashes on every platform. */
function toGlob(line: string): string {
  return sep === '/' ? line : line.replaceAll(sep, '/')
}
