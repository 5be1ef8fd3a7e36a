import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readReport } from './read-report.ts'
import type { ParsedFinding } from './report/parsed-report.ts'

const FIXTURES = new URL('../../../test/fixtures/sarif/', import.meta.url)

type Expected = { results: number; not_findings: number; dismissed: number; tools: string[] }
const expected: Record<string, Expected> = JSON.parse(readFileSync(new URL('expected.json', FIXTURES), 'utf8'))

/** Its run has no results, so that it speaks for no tool. */
const DID_NOT_SCAN = 'no-results.sarif'

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

for (const [file, figures] of Object.entries(expected)) {
  test(`${file} gives the findings that were counted independently`, async () => {
    const { summary, findings } = await read(file)
    assert.equal(summary.findings, figures.results - figures.not_findings)
    assert.equal(findings.length, summary.findings)
    assert.equal(findings.filter(({ state }) => state === 'dismissed').length, figures.dismissed)
    assert.deepEqual(
      summary.tools.map(({ name }) => name),
      file === DID_NOT_SCAN ? [] : figures.tools,
    )
    assert.deepEqual([summary.skipped, summary.truncated, summary.warnings], [0, false, []])
  })
}

test('Trivy states package, versions and vulnerability in its message', async () => {
  const [finding] = (await read('trivy.sarif')).findings
  assert.equal(finding?.kind, 'dependency')
  assert.equal(finding.package_name, 'libcrypto1.1')
  assert.equal(finding.package_version, '1.1.1c-r0')
  assert.equal(finding.fixed_version, '1.1.1d-r0')
  assert.deepEqual(finding.vuln_ids, ['CVE-2019-1549'])
  assert.equal(finding.scanner_score, 5.3)
  assert.equal(finding.severity, 'medium')
  assert.equal(finding.fingerprint_method, 'dependency')
})

test('Snyk states the package in a logical location, the CVE and CWE in its rule', async () => {
  const [finding] = (await read('snyk.sarif')).findings
  assert.equal(finding?.package_name, 'body-parser')
  assert.equal(finding.package_version, '1.19.0')
  assert.deepEqual(finding.vuln_ids, ['SNYK-JS-BODYPARSER-7926860', 'CVE-2024-45590'])
  assert.deepEqual(finding.cwes, ['CWE-405'])
})

test('osv-scanner states the package in a sentence and the aliases as deprecated ids', async () => {
  const [finding] = (await read('osv-scanner.sarif')).findings
  assert.equal(finding?.package_name, 'commons-collections:commons-collections')
  assert.equal(finding.package_version, '3.2.1')
  assert.deepEqual(finding.vuln_ids, ['CVE-2015-6420', 'GHSA-6hgm-866r-3cjv'])
})

test('Fortify refers to artifacts by index and to the CWE by relationships', async () => {
  const [finding] = (await read('fortify.sarif')).findings
  assert.equal(finding?.path, 'Helpers/InvoiceHelper.cs')
  assert.deepEqual(finding.cwes, ['CWE-22', 'CWE-73'])
  assert.equal(finding.rule_id, '31D4607A-A3FF-447C-908A-CA2BBE4CE4B7')
})

test('of two rules with one id, the index tells which is meant', async () => {
  const { findings } = await read('rule-id-collisions.sarif')
  assert.match(findings[0]?.description ?? '', /plaintext/)
  assert.match(findings[1]?.description ?? '', /image/)
})

test('a base that stands in another base gives a path from the top of the repository', async () => {
  const { findings } = await read('original-uri-base-ids.sarif')
  assert.deepEqual(
    findings.map(({ path }) => path),
    ['README.md', 'src/io/kb.c', null],
  )
})

test('a scanner that names its working directory gives paths below it', async () => {
  assert.equal((await read('gosec.sarif')).findings[0]?.path, 'loader/loader.go')
})
