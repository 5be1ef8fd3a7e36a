import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../server/test/support/parse-report.ts'
import { describeSbom, describeScan, exceeds } from '../src/documents/describe.ts'
import { selectJson } from '../src/documents/select-json.ts'
import { fileAt, writeReport } from './support/report-file.ts'

const SERVER_FIXTURES = new URL('../../../server/test/fixtures/', import.meta.url).pathname

/** The figures of the server's own parsers. */
async function serverFigures(content: Buffer | object) {
  const { findings, components } = await parseReport(content)
  const open = (severity: string) => findings.filter((one) => one.state === 'open' && one.severity === severity).length
  return { components, critical: open('critical'), high: open('high'), medium: open('medium'), low: open('low') }
}

const files = (pattern: string) => globSync(pattern, { cwd: SERVER_FIXTURES, exclude: ['**/expected.json'] }).sort()

for (const file of files('sarif/*.sarif')) {
  test(`${file}: the severities are those of the server`, async () => {
    const { tool, format, ...counts } = await describeScan(fileAt(SERVER_FIXTURES + file))
    const { components, ...expected } = await serverFigures(readFileSync(SERVER_FIXTURES + file))
    assert.deepEqual([counts, format], [expected, 'sarif'])
    assert.notEqual(tool, '')
  })
}

for (const file of files('cyclonedx/*.json')) {
  test(`${file}: the components and severities are those of the server`, async () => {
    const { components, ...expected } = await serverFigures(readFileSync(SERVER_FIXTURES + file))
    assert.deepEqual(await describeSbom(fileAt(SERVER_FIXTURES + file)), { format: 'cyclonedx', components })
    const hasVulnerabilities = 'vulnerabilities' in JSON.parse(readFileSync(SERVER_FIXTURES + file, 'utf8').trim())
    if (!hasVulnerabilities)
      return assert.rejects(describeScan(fileAt(SERVER_FIXTURES + file)), /found CycloneDX without/)
    const { tool, format, ...counts } = await describeScan(fileAt(SERVER_FIXTURES + file))
    assert.deepEqual([counts, format], [expected, 'cyclonedx'])
  })
}

for (const file of files('spdx/*.json')) {
  test(`${file}: the packages are those of the server`, async () => {
    const { components } = await serverFigures(readFileSync(SERVER_FIXTURES + file))
    assert.deepEqual(await describeSbom(fileAt(SERVER_FIXTURES + file)), { format: 'spdx', components })
  })
}

const score = fc.constantFrom(undefined, '9.1', 7, '4.0', 0.1, 0, 'x', 11, null)
const level = fc.constantFrom(undefined, 'error', 'warning', 'note', 'none', 'fatal')
const rule = fc.record({ id: fc.constantFrom('A', 'B', 'A/1'), score, level })
const result = fc.record({
  id: fc.constantFrom(undefined, 'A', 'B', 'A/1', 'A/1/x', 'Z'),
  index: fc.constantFrom(undefined, -1, 0, 1, 7),
  score,
  level,
  kind: fc.constantFrom(undefined, 'fail', 'pass', 'review', 'open'),
  baseline: fc.constantFrom(undefined, 'absent', 'new'),
  suppressions: fc.constantFrom(undefined, [], [{ kind: 'inSource' }], [{ status: 'rejected' }]),
  invocation: fc.constantFrom(undefined, 0),
})

test('random SARIF results have the severities of the server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rule), fc.array(result, { minLength: 1 }), async (rules, results) => {
      const described = rules.map(({ id, score, level }) => ({
        id,
        properties: { 'security-severity': score },
        defaultConfiguration: { level },
      }))
      const override = { descriptor: { id: 'A' }, configuration: { level: 'note' } }
      const run = {
        results: results.map(({ id, index, score, level, kind, baseline, suppressions, invocation }) => ({
          message: { text: 'm' },
          ...{ ruleId: id, ruleIndex: index, level, kind, baselineState: baseline, suppressions },
          properties: { 'security-severity': score },
          provenance: { invocationIndex: invocation },
        })),
        invocations: [{ executionSuccessful: true, ruleConfigurationOverrides: [override] }],
        tool: { driver: { name: 't', rules: described } },
      }
      const document = { runs: [run], version: '2.1.0' }
      const { components, ...expected } = await serverFigures(document)
      const { tool, format, ...counts } = await describeScan(writeReport(JSON.stringify(document), 'random.sarif'))
      assert.deepEqual(counts, expected)
    }),
    { numRuns: 200 },
  )
})

const rating = fc.record({
  source: fc.constantFrom(undefined, { name: 'NVD' }, { name: 'GitHub' }, { name: 'EPSS' }),
  method: fc.constantFrom(undefined, 'CVSSv2', 'CVSSv3', 'CVSSv31', 'CVSSv4', 'OWASP', 'other'),
  severity: fc.constantFrom(undefined, 'critical', 'high', 'moderate', 'low', 'none', 'unknown'),
  score: fc.constantFrom(undefined, 9.8, 5, 0, 0.02, 100),
  vector: fc.constantFrom(
    undefined,
    'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N',
    '(AV:N/AC:L/Au:N/C:P/I:P/A:P)',
    'CVSS:3.1/AV:N',
  ),
})
const vulnerability = fc.record({
  id: fc.constantFrom(undefined, 'CVE-2021-44228'),
  source: fc.constantFrom(undefined, { name: 'GitHub' }),
  description: fc.constantFrom(undefined, 'd'),
  ratings: fc.array(rating, { maxLength: 4 }),
  analysis: fc.constantFrom(undefined, { state: 'not_affected' }, { state: 'exploitable' }),
  affects: fc.array(
    fc.record({
      ref: fc.constantFrom('a', 'b', 'nested', 'pkg:npm/x@1.0', 'elsewhere'),
      versions: fc.constantFrom(undefined, [], [{ version: '1.0', status: 'unaffected' }]),
    }),
    { maxLength: 4 },
  ),
})

test('random CycloneDX vulnerabilities have the severities of the server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(vulnerability, { minLength: 1 }), async (vulnerabilities) => {
      // The server refuses a document in which no vulnerability can be read.
      const readable = { id: 'CVE-1', ratings: [{ severity: 'low' }] }
      const document = {
        bomFormat: 'CycloneDX',
        specVersion: '1.6',
        vulnerabilities: [readable, ...vulnerabilities],
        components: [
          {
            'bom-ref': 'a',
            name: 'a',
            version: '1.0',
            components: [{ 'bom-ref': 'nested', name: 'n', version: '2.0' }],
          },
          { 'bom-ref': 'b', name: 'b', purl: 'pkg:npm/b@1.0' },
        ],
      }
      const { components, ...expected } = await serverFigures(document)
      const { tool, format, ...counts } = await describeScan(writeReport(JSON.stringify(document), 'random.cdx.json'))
      assert.deepEqual(counts, expected)
    }),
    { numRuns: 200 },
  )
})

test('the tools of several runs are named once each', async () => {
  const run = (name: string | undefined) => ({ tool: { driver: { name } }, results: [] })
  const document = { version: '2.1.0', runs: [run('a'), run('b'), run('a'), run(undefined)] }
  assert.equal((await describeScan(writeReport(JSON.stringify(document)))).tool, 'a, b, unknown')
})

test('findings exceed a severity if they are of it or worse', () => {
  const counts = { critical: 0, high: 1, medium: 0, low: 0 }
  assert.deepEqual(
    (['critical', 'high', 'medium', 'low'] as const).map((severity) => exceeds(counts, severity)),
    [false, true, true, true],
  )
})

const WRONG: [what: string, content: string, message: RegExp][] = [
  ['an empty file', '', /: the file is empty$/],
  ['text', 'hello', /: expected SARIF or CycloneDX in JSON, found a file that is not JSON$/],
  [
    'XML',
    '<?xml version="1.0"?><bom xmlns="http://cyclonedx.org/schema/bom/1.4"/>',
    /found CycloneDX in XML; write it as/,
  ],
  ['SPDX', '{"spdxVersion":"SPDX-2.3"}', /expected SARIF or CycloneDX in JSON, found SPDX$/],
  ['an SBOM', '{"bomFormat":"CycloneDX","components":[]}', /found CycloneDX without `vulnerabilities`; use --sbom$/],
  ["Trivy's JSON", '{"SchemaVersion":2,"ArtifactName":"a","Results":[]}', /run it with `--format sarif`$/],
  ['other JSON', '[1]', /found other JSON$/],
  ['an old SARIF', '{"runs":[],"version":"1.0.0"}', /expected SARIF 2\.1\.0, found version "1\.0\.0"$/],
  ['a truncated file', '{"version":"2.1.0",\n"runs":[{"results":[{"a"', /:2: the file ends in the middle of its JSON$/],
  ['a wrong value', '{"version":"2.1.0","runs":[{"results":[{"a":}]}]}', /:1: the file is not valid JSON: /],
  ['wrong brackets', '{"version":"2.1.0","runs":[}', /:1: expected JSON, found \}$/],
  ['two documents', '{"version":"2.1.0"}\n{}', /:2: expected one JSON value, found several$/],
  ['a control character', '{"version":"2.1.0","a":"\u0001"}', /unescaped control character$/],
  ['deep nesting', `{"a":${'['.repeat(20_000)}`, /nested too deeply$/],
]
for (const [what, content, message] of WRONG) {
  test(`${what} is refused as a scan`, async () => {
    await assert.rejects(describeScan(writeReport(content)), { name: 'ReportFileError', message })
  })
}

test('SARIF is refused as an SBOM', async () => {
  const message = /expected CycloneDX or SPDX in JSON, found SARIF$/
  await assert.rejects(describeSbom(writeReport('{"version":"2.1.0","runs":[]}')), { message })
})

test('random JSON: the selected values are those of JSON.parse, however the file is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.jsonValue(), async (list, value) => {
      const document = { list, value, other: { list: [value], 'a"b\\': '\u2028😀' } }
      const path = writeReport(JSON.stringify(document, null, 1), 'random.json')
      const found: unknown[] = []
      for await (const selected of selectJson(path, ['list[]', 'value', 'other.list[]', 'other.a"b\\'])) {
        found.push([selected.path, selected.indexes, selected.value])
      }
      const plain = JSON.parse(JSON.stringify(document))
      assert.deepEqual(found, [
        ...plain.list.map((item: unknown, index: number) => ['list[]', [index], item]),
        ['value', [], plain.value],
        ['other.list[]', [0], plain.value],
        ['other.a"b\\', [], '\u2028😀'],
      ])
    }),
    { numRuns: 200 },
  )
})

test('a value that is longer than a chunk is read whole', async () => {
  const long = `${'x'.repeat(200_000)}\\"é`
  const path = writeReport(JSON.stringify({ a: [long, { [long]: 1 }], b: 2 }))
  const found = []
  for await (const { value } of selectJson(path, ['a[]', 'b'])) found.push(value)
  assert.deepEqual(found, [long, { [long]: 1 }, 2])
})
