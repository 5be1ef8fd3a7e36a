import { decodeText } from '../../../platform/json/decode-text.ts'
import { JsonError } from '../../../platform/json/json-error.ts'
import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { textsOf } from '../../../platform/json/read-value.ts'
import { FIRST_LOOK, selectJson } from '../../../platform/json/select-json.ts'
import { ReportError, type ReportFormat, type ReportSource } from '../report/parsed-report.ts'
import { describeBytes, HEAD_BYTES } from './describe-bytes.ts'
import { knownScannerRefusal } from './known-scanners.ts'

/** Members that identify a format by their text, or by one of their texts. */
const MARKS: [string, RegExp, ReportFormat][] = [
  ['bomFormat', /^CycloneDX$/, 'cyclonedx'],
  ['$schema', /cyclonedx\.org/i, 'cyclonedx'],
  ['$schema', /\bsarif\b/i, 'sarif'],
  ['spdxVersion', /^SPDX-/, 'spdx'],
  ['@context', /spdx\.org\/rdf\/v?\d/i, 'spdx'],
]

/** The marks, and the members that identify the scanner of a file without marks. */
const SELECTION = selectionTree([
  ...MARKS.flatMap(([member]) => [member, `${member}:type`]),
  '*:type',
  '*.*:type',
  '*[*].*:type',
  '[*].*:type',
])

const MEMBERS_MAX = 1000

/**
 * Detects the format of a report by its members, in any order. Reads no further than needed.
 * Throws ReportError if the format is not supported, JsonError if the file is not JSON.
 */
export async function detectFormat(source: ReportSource): Promise<ReportFormat> {
  await refuseOtherThanJson(source)
  const members = new Set<string>()
  try {
    for await (const batch of selectJson(source.open(), SELECTION, FIRST_LOOK)) {
      for (const selected of batch) {
        const format = formatOf(selected)
        if (format !== null) return format
        remember(members, selected)
      }
    }
  } catch (error) {
    // Some scanners write one JSON document per line. The first line is enough to identify them.
    const refusal = error instanceof JsonError ? knownScannerRefusal(members) : null
    throw refusal === null ? error : new ReportError(refusal)
  }
  return formatOfMembers(members)
}

/** The format of a file without marks. */
function formatOfMembers(members: ReadonlySet<string>): ReportFormat {
  if (members.has('bomFormat')) {
    throw new ReportError('The file is not a CycloneDX document: its `bomFormat` is not "CycloneDX".')
  }
  if (members.has('specVersion') && (members.has('components') || members.has('vulnerabilities'))) return 'cyclonedx'
  throw new ReportError(knownScannerRefusal(members) ?? 'The file is JSON, but not SARIF, CycloneDX or SPDX.')
}

async function refuseOtherThanJson(source: ReportSource): Promise<void> {
  let head: Buffer = Buffer.alloc(0)
  for await (const piece of decodeText(source.open())) {
    head = Buffer.concat([head, piece]).subarray(0, HEAD_BYTES)
    if (head.length === HEAD_BYTES) break
  }
  const description = describeBytes(head)
  if (description !== null) throw new ReportError(`The file is not JSON: it is ${description}.`)
}

function formatOf({ path, at, value }: SelectedValue): ReportFormat | null {
  if (path === '*:type') return at[0] === 'runs' && value === 'array' ? 'sarif' : null
  const texts = textsOf(value)
  return MARKS.find(([member, pattern]) => member === path && texts.some((text) => pattern.test(text)))?.[2] ?? null
}

/** Adds a member as `a`, `a.b`, `a[].b` or `[].b`. */
function remember(members: Set<string>, { path, at }: SelectedValue): void {
  if (members.size >= MEMBERS_MAX) return
  if (path === '*:type') members.add(`${at[0]}`)
  else if (path === '*.*:type') members.add(`${at[0]}.${at[1]}`)
  else if (path === '*[*].*:type') members.add(`${at[0]}[].${at[2]}`)
  else if (path === '[*].*:type') members.add(`[].${at[1]}`)
  else if (path.endsWith(':type')) members.add(path.slice(0, -':type'.length))
}
