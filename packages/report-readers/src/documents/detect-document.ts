import { ReportFileError, readText } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'
import { selectJson } from './select-json.ts'

type DocumentFormat = 'sarif' | 'cyclonedx' | 'spdx'

const SELECTIONS = [
  'bomFormat',
  '$schema',
  'specVersion',
  'spdxVersion',
  '@context',
  'runs:type',
  'components:type',
  'vulnerabilities:type',
  'matches:type',
  'SchemaVersion',
  'ArtifactName',
]

/** The formats of a file that is not JSON, by the beginning of its text in lower case. */
const OTHER_FILES: [string, RegExp][] = [
  ['CycloneDX in XML; write it as JSON', /^<[\s\S]*<bom\b|^<bom\b/],
  ['JUnit test results; use --junit', /^<[\s\S]*<testsuite|^<testsuite/],
  ['an HTML page', /^<(?:!doctype html|html)/],
  ['XML', /^</],
  ['SPDX in its tag-value form; write it as JSON', /^spdxversion:/],
]

/** Scanners that write SARIF on request, by a member of their own JSON. */
const SCANNERS: Record<string, string> = {
  ArtifactName: "Trivy's own JSON; run it with `--format sarif`",
  SchemaVersion: "Trivy's own JSON; run it with `--format sarif`",
  'matches:type': "Grype's own JSON; run it with `-o sarif`",
}

/**
 * Detects the format of a document by its members. Reads no further than needed. `expected` names
 * the formats that are accepted. Throws ReportFileError for every other format.
 */
export async function detectDocument(file: FoundFile, accepted: readonly DocumentFormat[]): Promise<DocumentFormat> {
  const expected = `expected ${listOf(accepted)}`
  await refuseOtherThanJson(file, expected)
  const members = new Set<string>()
  for await (const { path: member, value } of selectJson(file, SELECTIONS)) {
    members.add(member)
    const format = formatOf(member, value) ?? formatOfMembers(members)
    if (format !== null && accepted.includes(format)) return format
    if (format !== null) throw new ReportFileError(file, `${expected}, found ${NAMES[format]}`)
  }
  const scanner = Object.keys(SCANNERS).find((member) => members.has(member))
  throw new ReportFileError(file, `${expected}, found ${scanner === undefined ? 'other JSON' : SCANNERS[scanner]}`)
}

const NAMES: Record<DocumentFormat, string> = { sarif: 'SARIF', cyclonedx: 'CycloneDX', spdx: 'SPDX' }

function listOf(formats: readonly DocumentFormat[]): string {
  return `${formats.map((format) => NAMES[format]).join(' or ')} in JSON`
}

function formatOf(member: string, value: unknown): DocumentFormat | null {
  const text = JSON.stringify(value)
  if (member === 'bomFormat') return value === 'CycloneDX' ? 'cyclonedx' : null
  if (member === 'spdxVersion') return text.startsWith('"SPDX-') ? 'spdx' : null
  if (member === '@context') return /spdx\.org\/rdf\/v?\d/i.test(text) ? 'spdx' : null
  if (member === '$schema') return /cyclonedx\.org/i.test(text) ? 'cyclonedx' : /\bsarif\b/i.test(text) ? 'sarif' : null
  return member === 'runs:type' && value === 'array' ? 'sarif' : null
}

function formatOfMembers(members: ReadonlySet<string>): DocumentFormat | null {
  const hasLists = members.has('components:type') || members.has('vulnerabilities:type')
  return members.has('specVersion') && hasLists && !members.has('bomFormat') ? 'cyclonedx' : null
}

async function refuseOtherThanJson(file: FoundFile, expected: string): Promise<void> {
  for await (const text of readText(file)) {
    const start = text.trimStart().slice(0, 2000).toLowerCase()
    if (start === '') continue
    if (/^[[{]/.test(start)) return
    const found = OTHER_FILES.find(([, pattern]) => pattern.test(start))?.[0] ?? 'a file that is not JSON'
    throw new ReportFileError(file, `${expected}, found ${found}`)
  }
}
