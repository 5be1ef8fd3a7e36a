import { decodeText } from '../../../platform/json/decode-text.ts'
import { JsonError } from '../../../platform/json/json-error.ts'
import { selectionTree } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { textsOf } from '../../../platform/json/read-value.ts'
import { FIRST_LOOK, selectJson } from '../../../platform/json/select-json.ts'
import { ReportError, type ReportFormat, type ReportSource } from '../report/parsed-report.ts'
import { describeBytes, HEAD_BYTES } from './describe-bytes.ts'
import { knownScannerRefusal } from './known-scanners.ts'

/** Members whose text tells the format, or one of whose texts does. */
const MARKS: [string, RegExp, ReportFormat][] = [
  ['bomFormat', /^CycloneDX$/, 'cyclonedx'],
  ['$schema', /cyclonedx\.org/i, 'cyclonedx'],
  ['$schema', /\bsarif\b/i, 'sarif'],
  ['spdxVersion', /^SPDX-/, 'spdx'],
  ['@context', /spdx\.org\/rdf\/v?\d/i, 'spdx'],
]

/** Beside them, the members of an unknown file that tell its scanner. */
const SELECTION = selectionTree([
  ...MARKS.flatMap(([member]) => [member, `${member}:type`]),
  '*:type',
  '*.*:type',
  '*[*].*:type',
  '[*].*:type',
])

const MEMBERS_MAX = 1000

/**
 * Tells a report's format from its content, reading no further than needed. Members may stand in any order.
 * Throws ReportError with a reason for people when it is none that is read, JsonError when the JSON is broken.
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
    // One JSON document per line is a scanner's habit too; its first line has told enough.
    const refusal = error instanceof JsonError ? knownScannerRefusal(members) : null
    throw refusal === null ? error : new ReportError(refusal)
  }
  return formatOfMembers(members)
}

/** A file without a mark, told by the members that it has. */
function formatOfMembers(members: ReadonlySet<string>): ReportFormat {
  if (members.has('bomFormat')) {
    throw new ReportError(
      'The file is JSON with a `bomFormat`, but that is not "CycloneDX", so it is no CycloneDX document.',
    )
  }
  if (members.has('specVersion') && (members.has('components') || members.has('vulnerabilities'))) return 'cyclonedx'
  throw new ReportError(
    knownScannerRefusal(members) ?? 'The file is JSON, but neither SARIF 2.1.0 nor CycloneDX nor SPDX.',
  )
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

/** Notes a member as `a`, `a.b`, `a[].b` or `[].b`. */
function remember(members: Set<string>, { path, at }: SelectedValue): void {
  if (members.size >= MEMBERS_MAX) return
  if (path === '*:type') members.add(`${at[0]}`)
  else if (path === '*.*:type') members.add(`${at[0]}.${at[1]}`)
  else if (path === '*[*].*:type') members.add(`${at[0]}[].${at[2]}`)
  else if (path === '[*].*:type') members.add(`[].${at[1]}`)
  else if (path.endsWith(':type')) members.add(path.slice(0, -':type'.length))
}
