import type { NewReport, ReportFile } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { readCoverage } from './coverage/coverage.ts'
import { describeSbom, describeScan, exceeds } from './documents/describe.ts'
import type { Severity } from './documents/severity.ts'
import { describeLeftOut, findFiles, type Search } from './find-files.ts'
import type { FoundFile } from './found-file.ts'
import { readJunit } from './junit.ts'
import type { Retries } from './junit-case.ts'
import { WorkingDirectory } from './working-directory.ts'

type Attestation = NonNullable<NewReport['attestations']>[number]

/** The files that a job reports, as globs, and what they must reach. */
type Wanted = {
  junit: readonly string[]
  retries: Retries
  coverage: readonly string[]
  sbom: readonly string[]
  scan: readonly string[]
  artifacts: readonly string[]
  /** The line coverage to reach, in percent. */
  threshold: number | null
  failOn: Severity | null
}

/** What a report shows of a job. */
export type Evidence = {
  attestations: Attestation[]
  files: ReportFile[]
  /** One line for each thing that was read. */
  lines: string[]
  /** What people should know of the files, with their names. */
  warnings: string[]
  /** What misses the threshold, or exceeds the severity that fails. */
  exceeded: string[]
}

const NAME_MAX = 100

/**
 * Reads all files that a job reports. Throws an error if one cannot be read as what it should be, so
 * that nothing is sent.
 */
export async function collectEvidence(wanted: Wanted, search: Search): Promise<Evidence> {
  const collection = new Collection(wanted, search)
  await collection.addTests()
  await collection.addCoverage()
  await collection.addSboms()
  await collection.addScans()
  await collection.addArtifacts()
  return collection
}

class Collection implements Evidence {
  readonly attestations: Attestation[] = []
  readonly lines: string[] = []
  readonly warnings: string[] = []
  readonly exceeded: string[] = []
  readonly #paths = new Map<string, FoundFile>()
  readonly #wanted: Wanted
  readonly #search: Search
  readonly #directory: WorkingDirectory

  constructor(wanted: Wanted, search: Search) {
    this.#wanted = wanted
    this.#search = search
    this.#directory = new WorkingDirectory(search)
  }

  get files(): ReportFile[] {
    return [...this.#paths].map(([path, file]) => ({ path, source: fileSource(file.path, () => file.open()) }))
  }

  async addTests(): Promise<void> {
    const files = await this.#find('junit')
    if (files.length === 0) return
    const results = await readJunit(files, this.#wanted.retries, this.warnings)
    const { passed, failed, errors, skipped, flaky, durationSeconds } = results
    this.#attest('test-results', 'tests', results)
    const tried = flaky > 0 ? ` (${flaky} in a later try)` : ''
    this.lines.push(
      `Tests: ${passed} passed${tried}, ${failed} failed, ${errors} errors, ${skipped} skipped in ${durationSeconds} s`,
    )
  }

  async addCoverage(): Promise<void> {
    const { threshold } = this.#wanted
    const files = await this.#find('coverage')
    for (const file of files) {
      const { lines, warnings } = await readCoverage(file)
      this.warnings.push(...warnings)
      const path = this.#directory.artifactPath(file)
      this.#attest('coverage', files.length === 1 ? 'coverage' : path, {
        lines,
        ...(threshold !== null && { threshold }),
      })
      this.lines.push(`Coverage: ${lines} % of the lines (${path})`)
      if (threshold !== null && lines < threshold) {
        this.exceeded.push(`The line coverage in ${path} is ${lines} %, below the threshold of ${threshold} %`)
      }
    }
  }

  async addSboms(): Promise<void> {
    for (const file of await this.#find('sbom')) {
      const sbom = await describeSbom(file)
      const artifact = this.#addFile(file)
      this.#attest('sbom', artifact, { ...sbom, artifact })
      this.lines.push(`SBOM: ${sbom.components} components (${artifact})`)
    }
  }

  async addScans(): Promise<void> {
    const { failOn } = this.#wanted
    for (const file of await this.#find('scan')) {
      const scan = await describeScan(file)
      const artifact = this.#addFile(file)
      const counts = `${scan.critical} critical, ${scan.high} high, ${scan.medium} medium, ${scan.low} low`
      this.#attest('scan', artifact, { ...scan, ...(failOn !== null && { failOn }), artifact })
      this.lines.push(`Scan by ${scan.tool}: ${counts} (${artifact})`)
      if (failOn !== null && exceeds(scan, failOn)) {
        this.exceeded.push(`The scan in ${artifact} has findings of severity ${failOn} or worse: ${counts}`)
      }
    }
  }

  async addArtifacts(): Promise<void> {
    for (const file of await this.#find('artifacts')) this.#addFile(file)
  }

  async #find(option: 'junit' | 'coverage' | 'sbom' | 'scan' | 'artifacts'): Promise<FoundFile[]> {
    const inDirectory = option === 'junit' ? '**/*.xml' : '**'
    const { files, leftOut } = await findFiles({ option, patterns: this.#wanted[option], inDirectory }, this.#search)
    const line = describeLeftOut(leftOut)
    if (line !== null) this.lines.push(line)
    return files
  }

  /** Returns the path of the file in the report. */
  #addFile(file: FoundFile): string {
    const path = this.#directory.artifactPath(file)
    const known = this.#paths.get(path)
    if (known !== undefined && known.path !== file.path) {
      throw new Error(`${known.path} and ${file.path} would have the same path "${path}" in the report`)
    }
    this.#paths.set(path, file)
    return path
  }

  #attest(kind: string, name: string, data: object): void {
    this.attestations.push({ kind, name: name.slice(-NAME_MAX), data: data as Attestation['data'] })
  }
}
