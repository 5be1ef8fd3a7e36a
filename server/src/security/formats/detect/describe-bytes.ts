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
  ['CycloneDX in XML; write it as JSON', /<bom\b[^>]{0,500}cyclonedx/],
  ['JUnit test results in XML', /<testsuites?\b/],
  ['an HTML page', /^<(?:!doctype html|html)\b/],
  ['XML', /^</],
  ['SPDX in its tag-value form; write it as JSON', /^spdxversion:/],
  ['YAML', /^(?:---\s|[\w.-]+:\s)/],
]

/** The number of bytes that are examined. */
export const HEAD_BYTES = 2048

/** Describes a file by its first bytes, as UTF-8, for the end of a sentence; null if it may be JSON. */
export function describeBytes(head: Buffer): string | null {
  const signature = SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))
  if (signature !== undefined) return signature[0]
  if (head[0] === 0 || head[1] === 0) return 'binary, or UTF-16 without a byte order mark'
  const text = head.toString('utf8').trimStart().toLowerCase()
  if (text === '') return 'empty'
  if (/^[[{]/.test(text)) return null
  return TEXTS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text'
}
