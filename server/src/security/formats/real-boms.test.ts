import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readReport } from './read-report.ts'
import type { ParsedFinding } from './report/parsed-report.ts'

const FIXTURES = new URL('../../../test/fixtures/', import.meta.url)

const expected = <T>(folder: string): Record<string, T> =>
  JSON.parse(readFileSync(new URL(`${folder}/expected.json`, FIXTURES), 'utf8'))

async function read(file: string) {
  const bytes = readFileSync(new URL(file, FIXTURES))
  const findings: ParsedFinding[] = []
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += 1009) yield bytes.subarray(at, at + 1009)
  }
  const summary = await readReport({ open }, 'auto', async (batch) => {
    findings.push(...batch)
  })
  return { summary, findings }
}

type CycloneDxFigures = {
  components: number
  vulnerabilities: number
  affects: number
  analysis_states: Record<string, number>
}

for (const [file, figures] of Object.entries(expected<CycloneDxFigures>('cyclonedx'))) {
  test(`CycloneDX ${file} gives the components and findings that were counted independently`, async () => {
    const { summary, findings } = await read(`cyclonedx/${file}`)
    assert.equal(summary.format, 'cyclonedx')
    assert.equal(summary.components, figures.components)
    // None of these files has a vulnerability that names no component, or one component twice.
    assert.equal(summary.findings, figures.affects)
    assert.equal(findings.length, summary.findings)
    assert.deepEqual([summary.skipped, summary.truncated, summary.warnings], [0, false, []])
  })
}

type SpdxFigures = { packages: number; security_refs: number; findings: number }

for (const [file, figures] of Object.entries(expected<SpdxFigures>('spdx'))) {
  test(`SPDX ${file} gives the packages and findings that were counted`, async () => {
    const { summary, findings } = await read(`spdx/${file}`)
    assert.equal(summary.format, 'spdx')
    assert.equal(summary.components, figures.packages)
    assert.equal(findings.length, figures.findings)
    assert.deepEqual([summary.skipped, summary.truncated, summary.warnings], [0, false, []])
  })
}

test('Trivy gives package, fixed version, severity by its own source and CVSS by the best there is', async () => {
  const { summary, findings } = await read('cyclonedx/trivy.json')
  const [finding] = findings
  assert.deepEqual(summary.tools, [{ name: 'trivy', version: 'dev', rules: 1 }])
  assert.equal(finding?.package_name, 'jquery')
  assert.equal(finding.package_version, '3.3.9')
  assert.equal(finding.fixed_version, '3.4.0')
  assert.equal(finding.purl, 'pkg:npm/jquery@3.3.9')
  assert.deepEqual([finding.severity, finding.cvss_version, finding.cvss_score], ['medium', '3.1', 6.1])
  assert.deepEqual(finding.cwes, ['CWE-79'])
  assert.deepEqual(finding.vuln_ids.slice(0, 2), ['CVE-2019-11358', 'GHSA-6c3j-c64m-qhgq'])
  assert.deepEqual([finding.kind, finding.fingerprint_method], ['dependency', 'dependency'])
})

test('Grype gives the place by a property, and neither EPSS nor KEV passes for a severity', async () => {
  const { findings } = await read('cyclonedx/grype.json')
  assert.deepEqual(
    findings.map(({ path, severity, scanner_score }) => [path, severity, scanner_score]),
    [
      ['/foo/bar/somefile-1.txt', 'low', 8.2],
      ['/foo/bar/somefile-2.txt', 'critical', 8.5],
    ],
  )
})

test('VEX states settle findings, and components of other documents are told by name', async () => {
  const { findings } = await read('cyclonedx/vex-with-version-ranges.json')
  const products = new Set(findings.map((finding) => finding.package_name))
  assert.deepEqual([...products].sort(), ['product-ABC', 'product-JKL'])
  assert.equal(findings.filter(({ state }) => state === 'open').length, 4)
  const settled = findings.find(({ dismiss_reason }) => dismiss_reason === 'not_affected')
  assert.match(settled?.dismiss_comment ?? '', /^code_not_present\nThese versions/)
  assert.ok(findings.some(({ dismiss_reason }) => dismiss_reason === 'resolved'))
})

test('a security reference of SPDX 2 that names a vulnerability is a finding; a CPE, a fix or another page is none', async () => {
  const { summary, findings } = await read('spdx/security-references.json')
  assert.deepEqual(summary.tools, [{ name: 'syft', version: '1.50.0', rules: 3 }])
  assert.deepEqual(
    findings.map(({ package_name, package_version, vuln_ids }) => [package_name, package_version, ...vuln_ids]),
    [
      ['alpine-baselayout', '3.1.2-r0', 'CVE-2024-10001'],
      ['alpine-keys', '2.1-r2', 'CVE-2024-10002'],
      ['alpine-keys', '2.1-r2', 'GHSA-jfh8-c2jp-5v3q'],
    ],
  )
})
