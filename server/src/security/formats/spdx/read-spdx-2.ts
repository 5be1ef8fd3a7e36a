import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { objectOf } from '../../../platform/json/read-value.ts'
import { selectJson } from '../../../platform/json/select-json.ts'
import type { FindingBatch } from '../report/finding-batch.ts'
import { ReportError, type ReportSource, type ReportTool } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'
import { findingsOfPackage, isStatement } from './package-2.ts'
import type { SpdxResult } from './spdx-result.ts'
import { toolOfCreators } from './tool.ts'

const PACKAGE = 'packages[*]'
const REFERENCE = 'packages[*].externalRefs[*]'

const HEADER = selectionTree(['spdxVersion', 'creationInfo.creators', 'packages:type', `${PACKAGE}:type`, REFERENCE])

/** Members of a package that no finding needs and that can be long. */
const UNREAD_MEMBERS = [
  'hasFiles',
  'checksums',
  'annotations',
  'attributionTexts',
  'comment',
  'copyrightText',
  'description',
  'licenseComments',
  'licenseInfoFromFiles',
  'sourceInfo',
]
const PACKAGES = selectionTree([PACKAGE], { [PACKAGE]: UNREAD_MEMBERS })

const MINORS_READ = ['2', '3']

/**
 * Reads an SPDX 2.x document: packages, of which some have references to vulnerabilities. First what the document is; it is read a
 * second time only where there are such references.
 */
export async function readSpdx2(
  source: ReportSource,
  batch: FindingBatch,
  warnings: ReportWarnings,
): Promise<SpdxResult> {
  const header = new HeaderReader()
  for await (const selected of selectJson(source.open(), HEADER)) for (const member of selected) header.read(member)
  header.refuseUnlessRead(warnings)
  const packages = new PackageReader(header.tool, batch, warnings)
  if (header.hasStatements) await readPackages(source, packages)
  return {
    tool: header.tool,
    hasStatements: header.hasStatements,
    components: header.packages,
    skipped: packages.skipped,
    isIncomplete: false,
  }
}

async function readPackages(source: ReportSource, reader: PackageReader): Promise<void> {
  for await (const selected of selectJson(source.open(), PACKAGES)) {
    for (const entry of selected) reader.read(entry)
    await reader.batch.flushFull()
    if (reader.batch.isTruncated) break
  }
}

class HeaderReader {
  tool: ReportTool = toolOfCreators(null)
  packages = 0
  hasStatements = false
  #others = 0
  #version: unknown

  read({ path, value }: SelectedValue): void {
    if (path === 'spdxVersion') this.#version = value
    else if (path === 'creationInfo.creators') this.tool = toolOfCreators(value)
    else if (path === 'packages:type') refuseUnlessArray(value)
    else if (path === REFERENCE) this.hasStatements ||= isStatement(value)
    else if (value === 'object') this.packages++
    else this.#others++
  }

  refuseUnlessRead(warnings: ReportWarnings): void {
    if (this.packages === 0 && this.#others > 0) {
      throw new ReportError(`None of the document's ${this.#others} packages is an object.`, 'spdx')
    }
    const version = typeof this.#version === 'string' ? this.#version.trim().slice(0, 30) : null
    if (version === null) throw new ReportError('The SPDX document has no `spdxVersion`.', 'spdx')
    const minor = /^SPDX-2\.(\d{1,3})$/.exec(version)?.[1] ?? '0'
    if (MINORS_READ.includes(minor)) return
    if (Number(minor) < 2) {
      throw new ReportError(`${JSON.stringify(version)} is not read; SPDX 2.2, 2.3 and 3.0 are.`, 'spdx')
    }
    warnings.add(`${version} is newer than SPDX 2.3 and was read as that`)
  }
}

function refuseUnlessArray(type: unknown): void {
  if (type === 'array' || type === 'null') return
  throw new ReportError("The document's `packages` are not an array.", 'spdx')
}

class PackageReader {
  readonly batch: FindingBatch
  readonly #tool: ReportTool
  readonly #warnings: ReportWarnings
  skipped = 0

  constructor(tool: ReportTool, batch: FindingBatch, warnings: ReportWarnings) {
    this.#tool = tool
    this.batch = batch
    this.#warnings = warnings
  }

  read({ at, value, isOversize }: SelectedValue): void {
    const entry = objectOf(value)
    if (entry === null) {
      this.skipped++
      const reason = isOversize ? 'is very large' : 'is not an object'
      this.#warnings.add(`Package ${Number(at[0]) + 1} ${reason} and was skipped`)
      return
    }
    for (const finding of findingsOfPackage(this.#tool, entry)) this.batch.add(finding)
  }
}
