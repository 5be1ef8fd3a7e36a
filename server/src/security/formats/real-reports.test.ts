import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseReport } from '../../../test/support/parse-report.ts'

const FIXTURES = new URL('../../../test/fixtures/', import.meta.url)
const PIECE_BYTES = 1009

const read = (file: string) => parseReport(readFileSync(new URL(file, FIXTURES)), PIECE_BYTES)

const expected = <T>(folder: string): Record<string, T> =>
  JSON.parse(readFileSync(new URL(`${folder}/expected.json`, FIXTURES), 'utf8'))

/** `warning` is how the warning about the report begins, if there is one. */
type SarifFigures = { results: number; not_findings: number; dismissed: number; tools: string[]; warning?: string }

/** Its run has no results. */
const DID_NOT_SCAN = 'no-results.sarif'

for (const [file, figures] of Object.entries(expected<SarifFigures>('sarif'))) {
  test(`SARIF ${file} has the findings that another program counted`, async () => {
    const report = await read(`sarif/${file}`)
    assert.equal(report.count, figures.results - figures.not_findings)
    assert.equal(report.findings.length, report.count)
    assert.equal(report.findings.filter(({ state }) => state === 'dismissed').length, figures.dismissed)
    const scanned = report.tools.filter(({ isUnscanned }) => !isUnscanned)
    assert.deepEqual(
      scanned.map(({ name }) => name),
      file === DID_NOT_SCAN ? [] : figures.tools,
    )
    assert.deepEqual([report.skipped, report.truncated], [0, false])
    const { warning } = figures
    assert.equal(report.warnings.length, warning === undefined ? 0 : 1)
    assert.ok(
      report.warnings.every((text) => text.startsWith(`${warning} `)),
      report.warnings.join(),
    )
  })
}

type CycloneDxFigures = {
  components: number
  vulnerabilities: number
  affects: number
  analysis_states: Record<string, number>
}

for (const [file, figures] of Object.entries(expected<CycloneDxFigures>('cyclonedx'))) {
  test(`CycloneDX ${file} has the components and findings that another program counted`, async () => {
    const report = await read(`cyclonedx/${file}`)
    assert.equal(report.format, 'cyclonedx')
    assert.equal(report.components, figures.components)
    // In these files each vulnerability lists components, and no component twice.
    assert.equal(report.count, figures.affects)
    assert.equal(report.findings.length, report.count)
    assert.deepEqual([report.skipped, report.truncated, report.warnings], [0, false, []])
  })
}

type SpdxFigures = { packages: number; security_refs: number; findings: number }

for (const [file, figures] of Object.entries(expected<SpdxFigures>('spdx'))) {
  test(`SPDX ${file} has the packages and findings that were counted independently`, async () => {
    const report = await read(`spdx/${file}`)
    assert.equal(report.format, 'spdx')
    assert.equal(report.components, figures.packages)
    assert.equal(report.findings.length, figures.findings)
    assert.deepEqual([report.skipped, report.truncated, report.warnings], [0, false, []])
  })
}

test('SARIF by Trivy has package, versions and vulnerability in its messages', async () => {
  const [finding] = (await read('sarif/trivy.sarif')).findings
  assert.equal(finding?.kind, 'dependency')
  assert.equal(finding.package_name, 'libcrypto1.1')
  assert.equal(finding.package_version, '1.1.1c-r0')
  assert.equal(finding.fixed_version, '1.1.1d-r0')
  assert.deepEqual(finding.vuln_ids, ['CVE-2019-1549'])
  assert.equal(finding.scanner_score, 5.3)
  assert.equal(finding.severity, 'medium')
  assert.equal(finding.fingerprint_method, 'dependency')
})

test('SARIF by Snyk has the package in a logical location, and CVE and CWE in its rules', async () => {
  const [finding] = (await read('sarif/snyk.sarif')).findings
  assert.equal(finding?.package_name, 'body-parser')
  assert.equal(finding.package_version, '1.19.0')
  assert.deepEqual(finding.vuln_ids, ['SNYK-JS-BODYPARSER-7926860', 'CVE-2024-45590'])
  assert.deepEqual(finding.cwes, ['CWE-405'])
})

test('SARIF by OSV-Scanner has the package in a sentence, and aliases as deprecated ids', async () => {
  const [finding] = (await read('sarif/osv-scanner.sarif')).findings
  assert.equal(finding?.package_name, 'commons-collections:commons-collections')
  assert.equal(finding.package_version, '3.2.1')
  assert.deepEqual(finding.vuln_ids, ['CVE-2015-6420', 'GHSA-6hgm-866r-3cjv'])
})

test('SARIF by Fortify refers to artifacts by index and to CWE by relationships', async () => {
  const [finding] = (await read('sarif/fortify.sarif')).findings
  assert.equal(finding?.path, 'Helpers/InvoiceHelper.cs')
  assert.deepEqual(finding.cwes, ['CWE-22', 'CWE-73'])
  assert.equal(finding.rule_id, '31D4607A-A3FF-447C-908A-CA2BBE4CE4B7')
})

test('of two rules with the same id, the index selects one', async () => {
  const { findings } = await read('sarif/rule-id-collisions.sarif')
  assert.match(findings[0]?.description ?? '', /plaintext/)
  assert.match(findings[1]?.description ?? '', /image/)
})

test('a base below another base gives a path from the top of the repository', async () => {
  const { findings } = await read('sarif/original-uri-base-ids.sarif')
  assert.deepEqual(
    findings.map(({ path }) => path),
    ['README.md', 'src/io/kb.c', null],
  )
})

test('paths are relative to the working directory of the scanner', async () => {
  assert.equal((await read('sarif/gosec.sarif')).findings[0]?.path, 'loader/loader.go')
})

test('CycloneDX by Trivy has package, fixed version, the severity of its source and the best CVSS', async () => {
  const { tools, findings } = await read('cyclonedx/trivy.json')
  const [finding] = findings
  assert.deepEqual(
    tools.map(({ name, version }) => [name, version]),
    [['trivy', 'dev']],
  )
  assert.equal(finding?.package_name, 'jquery')
  assert.equal(finding.package_version, '3.3.9')
  assert.equal(finding.fixed_version, '3.4.0')
  assert.equal(finding.purl, 'pkg:npm/jquery@3.3.9')
  assert.deepEqual([finding.severity, finding.cvss_version, finding.cvss_score], ['medium', '3.1', 6.1])
  assert.deepEqual(finding.cwes, ['CWE-79'])
  assert.deepEqual(finding.vuln_ids.slice(0, 2), ['CVE-2019-11358', 'GHSA-6c3j-c64m-qhgq'])
  assert.deepEqual([finding.kind, finding.fingerprint_method], ['dependency', 'dependency'])
})

test('CycloneDX by Grype has the path in a property, and its EPSS and KEV ratings are not severities', async () => {
  const { findings } = await read('cyclonedx/grype.json')
  assert.deepEqual(
    findings.map(({ path, severity, scanner_score }) => [path, severity, scanner_score]),
    [
      ['/foo/bar/somefile-1.txt', 'low', 8.2],
      ['/foo/bar/somefile-2.txt', 'critical', 8.5],
    ],
  )
})

test('VEX states dismiss findings, and components of other documents have a name', async () => {
  const { findings } = await read('cyclonedx/vex-with-version-ranges.json')
  const products = new Set(findings.map((finding) => finding.package_name))
  assert.deepEqual([...products].sort(), ['product-ABC', 'product-JKL'])
  assert.equal(findings.filter(({ state }) => state === 'open').length, 4)
  const settled = findings.find(({ dismiss_reason }) => dismiss_reason === 'not_affected')
  assert.match(settled?.dismiss_comment ?? '', /^code_not_present\nThese versions/)
  assert.ok(findings.some(({ dismiss_reason }) => dismiss_reason === 'resolved'))
})

test('SPDX 2: a security reference to a vulnerability is a finding; a CPE, a fix or another page is not', async () => {
  const { tools, findings } = await read('spdx/security-references.json')
  assert.deepEqual(
    tools.map(({ name, version }) => [name, version]),
    [['syft', '1.50.0']],
  )
  assert.deepEqual(
    findings.map(({ package_name, package_version, vuln_ids }) => [package_name, package_version, ...vuln_ids]),
    [
      ['alpine-baselayout', '3.1.2-r0', 'CVE-2024-10001'],
      ['alpine-keys', '2.1-r2', 'CVE-2024-10002'],
      ['alpine-keys', '2.1-r2', 'GHSA-jfh8-c2jp-5v3q'],
    ],
  )
})
