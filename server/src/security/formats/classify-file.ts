import { JsonError } from '../../platform/json/json-grammar.ts'
import { createSelectionTree } from '../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../platform/json/json-selector.ts'
import { toTexts } from '../../platform/json/read-value.ts'
import { decodeText, FIRST_LOOK, selectJson } from '../../platform/json/select-json.ts'
import { formatTitles, getFormat, UPLOAD_FORMATS, type UploadFormat } from './catalogue.ts'
import { explainKnownScanner, hasShape } from './known-scanners.ts'
import { ReportError, type ReportSource } from './report/parsed-report.ts'

/** Members that identify a format by their text, in the order of the catalogue. */
const TEXT_MARKS = UPLOAD_FORMATS.flatMap((format) =>
  (getFormat(format).marks.texts ?? []).map(([member, pattern]) => ({ member, pattern, format })),
)

/** The marks, and the members that identify the scanner of a file without marks. */
const SELECTION = createSelectionTree([
  ...TEXT_MARKS.flatMap(({ member }) => [member, `${member}:type`]),
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
export async function classifyFile(source: ReportSource): Promise<UploadFormat> {
  await refuseOtherThanJson(source)
  const members = new Set<string>()
  try {
    for await (const batch of selectJson(source.open(), SELECTION, FIRST_LOOK)) {
      for (const selected of batch) {
        const format = matchMark(selected)
        if (format !== null) return format
        collectMember(members, selected)
      }
    }
  } catch (error) {
    // Some scanners write one JSON document per line. The first line is enough to identify them.
    const refusal = error instanceof JsonError ? explainKnownScanner(members) : null
    throw refusal === null ? error : new ReportError(refusal)
  }
  return matchShape(members)
}

/** The format of a file without marks, by the shapes of its members. */
function matchShape(members: ReadonlySet<string>): UploadFormat {
  for (const format of UPLOAD_FORMATS) {
    const { refusal } = getFormat(format).marks
    if (refusal !== undefined && members.has(refusal[0])) throw new ReportError(refusal[1])
  }
  const isShaped = (format: UploadFormat) => getFormat(format).marks.shapes?.some((shape) => hasShape(members, shape))
  const match = UPLOAD_FORMATS.find(isShaped)
  if (match === undefined) throw new ReportError(explainKnownScanner(members) ?? UNKNOWN)
  return match
}

const UNKNOWN = `The file is JSON, but not ${formatTitles(UPLOAD_FORMATS, 'or')}.`

async function refuseOtherThanJson(source: ReportSource): Promise<void> {
  let head: Buffer = Buffer.alloc(0)
  for await (const piece of decodeText(source.open())) {
    head = Buffer.concat([head, piece]).subarray(0, HEAD_BYTES)
    if (head.length === HEAD_BYTES) break
  }
  const before = findTextBefore(head)
  if (before !== null) throw new ReportError(`The file has text before the JSON: ${before}`)
  const description = describeBytes(head)
  if (description !== null) throw new ReportError(`The file is not JSON: it is ${description}.`)
}

function matchMark({ path, keys, value }: SelectedValue): UploadFormat | null {
  if (path === '*:type') {
    const isMark = (format: UploadFormat) => getFormat(format).marks.lists?.includes(`${keys[0]}`)
    return value === 'array' ? (UPLOAD_FORMATS.find(isMark) ?? null) : null
  }
  const texts = toTexts(value)
  const mark = TEXT_MARKS.find(({ member, pattern }) => member === path && texts.some((text) => pattern.test(text)))
  return mark?.format ?? null
}

/** Adds a member as `a`, `a.b`, `a[].b` or `[].b`. */
function collectMember(members: Set<string>, { path, keys }: SelectedValue): void {
  if (members.size >= MEMBERS_MAX) return
  if (path === '*:type') members.add(`${keys[0]}`)
  else if (path === '*.*:type') members.add(`${keys[0]}.${keys[1]}`)
  else if (path === '*[*].*:type') members.add(`${keys[0]}[].${keys[2]}`)
  else if (path === '[*].*:type') members.add(`[].${keys[1]}`)
  else if (path.endsWith(':type')) members.add(path.slice(0, -':type'.length))
}

/** The first bytes of files that are not JSON. */
const SIGNATURES: [string, number[]][] = [
  ['a ZIP archive; unpack it first', [0x50, 0x4b, 0x03, 0x04]],
  ['compressed with gzip; unpack it first', [0x1f, 0x8b]],
  ['compressed with Zstandard; unpack it first', [0x28, 0xb5, 0x2f, 0xfd]],
  ['compressed with bzip2; unpack it first', [0x42, 0x5a, 0x68]],
  ['compressed with xz; unpack it first', [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['a PDF document', [0x25, 0x50, 0x44, 0x46]],
]

/** The beginnings of texts that are not JSON, in lower case and without leading white space. */
const TEXTS: [string, RegExp][] = [
  ['a Nessus report in XML; convert it with `sarif convert --tool Nessus`', /<nessusclientdata/],
  ['a Cppcheck report in XML; run it with `--output-format=sarif`', /<results[^>]{0,200}>\s{0,200}<cppcheck\b/],
  ['a SpotBugs report in XML; run it with `-sarif`', /<bugcollection\b/],
  ['a PMD report in XML; run it with `-f sarif`', /<pmd\b/],
  ['a Dependency-Check report in XML; run it with `--format SARIF`', /<analysis\b[^>]{0,500}dependency-check/],
  ['a ZAP report in XML; use the report template `sarif-json`', /<owaspzapreport\b/],
  ['a Checkstyle report in XML; configure the linter to write SARIF', /<checkstyle\b/],
  ...UPLOAD_FORMATS.flatMap((format) => getFormat(format).otherNotations ?? []),
  ['JUnit test results in XML', /<testsuites?\b/],
  ['an HTML page', /^<(?:!doctype html|html)\b/],
  ['XML', /^</],
  ['YAML', /^(?:---\s|[\w.-]+:\s)/],
]

/** The number of bytes that are examined. */
const HEAD_BYTES = 16 * 1024

const LINE_SHOWN_MAX = 80

/**
 * Describes the text before a JSON document, as compilers and wrappers write it to the same stream;
 * null if there is none. A document begins on a line of its own.
 */
function findTextBefore(head: Buffer): string | null {
  const text = head.toString('utf8').trim()
  const start = text.search(/^(?:\{\s*"|\[\s*\{\s*")/m)
  if (start <= 0 || text.startsWith('<')) return null
  const line = text.slice(0, start).split('\n', 1)[0]?.trim().slice(0, LINE_SHOWN_MAX)
  return `it begins with ${JSON.stringify(line)}. Write only the report to the file.`
}

/**
 * Describes a file by its first bytes, as UTF-8, for the end of a sentence; null if it may be JSON.
 */
function describeBytes(head: Buffer): string | null {
  const signature = SIGNATURES.find(([, bytes]) => bytes.every((byte, index) => head[index] === byte))
  if (signature !== undefined) return signature[0]
  if (head[0] === 0 || head[1] === 0) return 'binary, or UTF-16 without a byte order mark'
  const text = head.toString('utf8').trimStart().toLowerCase()
  if (text === '') return 'empty'
  if (/^[[{]/.test(text)) return null
  return TEXTS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text'
}
