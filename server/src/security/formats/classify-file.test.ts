import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDetected } from '../../../test/support/parse-report.ts'
import { classifyFile } from './classify-file.ts'

const source = (content: string | Uint8Array) => ({
  async *open() {
    yield Buffer.from(content)
  },
})

const readAs = (content: string | object, format: 'auto' | 'sarif' | 'cyclonedx' = 'auto') =>
  readDetected(source(typeof content === 'string' ? content : JSON.stringify(content)), format, async () => {})

test('the format is detected by its members, in any order', async () => {
  const format = (document: object) => classifyFile(source(JSON.stringify(document)))
  assert.equal(await format({ runs: [], version: '2.1.0' }), 'sarif')
  assert.equal(
    await format({ properties: { version: '9' }, runs: null, $schema: 'https://x.example/sarif-2.1.0.json' }),
    'sarif',
  )
  assert.equal(await format({ components: [], bomFormat: 'CycloneDX' }), 'cyclonedx')
  assert.equal(await format({ packages: [], spdxVersion: 'SPDX-2.3' }), 'spdx')
  assert.equal(await format({ statements: [], '@context': 'https://openvex.dev/ns/v0.2.0' }), 'openvex')
  assert.equal(await format({ statements: [], '@context': ['https://openvex.dev/ns', {}] }), 'openvex')
  assert.equal(await format({ statements: [{ status: 'fixed', vulnerability: 'CVE-2020-1000' }] }), 'openvex')
  assert.equal(await format({ vulnerabilities: [], document: { csaf_version: '2.0' } }), 'csaf')
  assert.equal(await format({ '@graph': [], '@context': 'https://spdx.org/rdf/3.0.1/spdx-context.jsonld' }), 'spdx')
})

test('a large report is detected by its beginning', async () => {
  let pieces = 0
  async function* open() {
    yield Buffer.from('{"runs":[')
    for (; pieces < 1000; pieces++) yield Buffer.from(`${' '.repeat(4096)}`)
  }
  assert.equal(await classifyFile({ open }), 'sarif')
  assert.ok(pieces < 5)
})

test('an unsupported version of SARIF is refused', async () => {
  await assert.rejects(readAs({ version: '1.0.0', runs: [] }), {
    name: 'ReportError',
    format: 'sarif',
    message: 'The SARIF version "1.0.0" is not supported; use SARIF 2.1.0.',
  })
  await assert.rejects(readAs({ runs: [] }), {
    message: 'The file has `runs` but no `version`, so it is not a SARIF 2.1.0 report.',
  })
})

test('a file that is not in the stated format is refused', async () => {
  await assert.rejects(readAs({ version: '2.1.0', runs: [] }, 'cyclonedx'), {
    message: 'The file is SARIF, but `format` is "cyclonedx".',
  })
})

test('CycloneDX is detected by its schema or members, but not with another `bomFormat`', async () => {
  const format = (document: object) => classifyFile(source(JSON.stringify(document)))
  assert.equal(await format({ $schema: 'http://cyclonedx.org/schema/bom-1.2b.schema.json' }), 'cyclonedx')
  assert.equal(await format({ specVersion: '1.4', components: [] }), 'cyclonedx')
  await assert.rejects(readAs({ bomFormat: 'AnotherFormat', specVersion: '1.4', components: [] }), {
    name: 'ReportError',
    message: 'The file is not a CycloneDX document: its `bomFormat` is not "CycloneDX".',
  })
})

test('a file with one JSON document per line is detected by its first line', async () => {
  await assert.rejects(readAs('{"SourceMetadata":{},"DetectorName":"AWS"}\n{"SourceMetadata":{}}'), /TruffleHog/)
})

const OTHER_FILES: [string, string | Uint8Array, RegExp][] = [
  ['an empty file', '', /it is empty/],
  ['white space', ' \n', /it is empty/],
  ['XML', '<?xml version="1.0"?><a/>', /it is XML/],
  ['CycloneDX in XML', '<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.4"/>', /CycloneDX in XML/],
  ['a Nessus report', '<?xml version="1.0" ?>\n<NessusClientData_v2>', /Nessus report.*`sarif convert --tool Nessus`/],
  [
    'a Cppcheck report',
    '<?xml version="1.0"?>\n<results version="2">\n  <cppcheck version="2.9"/>',
    /Cppcheck.*sarif`/,
  ],
  ['a SpotBugs report', '<?xml version="1.0"?>\n<BugCollection version="4.4.0">', /SpotBugs.*`-sarif`/],
  ['a ZIP archive', Buffer.from('PK\u0003\u0004rest', 'latin1'), /ZIP archive/],
  ['a gzip file', Buffer.from([0x1f, 0x8b, 8, 0]), /gzip/],
  ['UTF-16 without a mark', Buffer.from('{}', 'utf16le'), /UTF-16 without a byte order mark/],
  ['text', 'no findings', /it is text/],
]

for (const [name, content, reason] of OTHER_FILES) {
  test(`${name} is refused with a description of the file`, async () => {
    await assert.rejects(
      readDetected(source(content), 'auto', async () => {}),
      { name: 'ReportError', message: reason },
    )
  })
}

test('a truncated document is refused with the byte where it ends', async () => {
  await assert.rejects(readAs('{"version":"2.1.0","runs":['), {
    name: 'ReportError',
    format: 'sarif',
    message: /at byte 27/,
  })
})

test('text before the JSON is named, other text that contains braces is not', async () => {
  const report = JSON.stringify({ version: '2.1.0', runs: [] }, null, 2)
  await assert.rejects(readAs(`warning: unstable\nnext\n${report}`), {
    message:
      'The file has text before the JSON: it begins with "warning: unstable". Write only the report to the file.',
  })
  await assert.rejects(readAs('a: {"b": 1}\nc: [{"d": 1}]'), /it is YAML/)
  await assert.rejects(readAs('<script>\n{"a": 1}</script>'), /it is XML/)
})

test('unknown JSON is refused', async () => {
  await assert.rejects(readAs({ hello: 1 }), {
    message: 'The file is JSON, but not SARIF, CycloneDX, SPDX, OpenVEX or CSAF.',
  })
})
