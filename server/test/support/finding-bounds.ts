import assert from 'node:assert/strict'
import type { ParsedFinding, ReportSummary } from '../../src/security/formats/report/parsed-report.ts'
import { VEX_STATUSES, type VexStatement } from '../../src/security/formats/report/vex-statement.ts'

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info']
const KINDS = ['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other']
const INTEGER_MAX = 2 ** 31 - 1

/** The maximal length of each text in UTF-16 code units. All but the required texts may be null. */
const TEXTS: Partial<Record<keyof ParsedFinding, number>> = {
  tool: 300,
  tool_version: 100,
  dismiss_reason: 300,
  dismiss_comment: 2000,
  title: 500,
  description: 16 * 1024,
  native_url: 2048,
  path: 1000,
  package_name: 300,
  package_version: 100,
  fixed_version: 100,
  purl: 400,
  rule_id: 300,
  secret_type: 300,
  resource_name: 1000,
  cvss_vector: 300,
  fingerprint_method: 100,
}
const REQUIRED = ['tool', 'title', 'fingerprint_method']
const LISTS = { vuln_ids: 400, cwes: 20 } as const
const ENTRIES_MAX = 200

/**
 * Checks that the database can store a finding: known severity and kind, bounded texts and numbers.
 */
export function assertBounded(finding: ParsedFinding): void {
  assert.ok(SEVERITIES.includes(finding.severity) && KINDS.includes(finding.kind), 'severity and kind')
  assert.ok(finding.state === 'open' || finding.state === 'dismissed', 'state')
  assert.equal(finding.dismiss_reason === null, finding.state === 'open')
  for (const [name, max] of Object.entries(TEXTS)) {
    const text = finding[name as keyof ParsedFinding]
    if (text !== null || REQUIRED.includes(name)) assertText(text, max, name)
  }
  for (const [name, max] of Object.entries(LISTS)) {
    const list = finding[name as keyof typeof LISTS]
    assert.ok(Array.isArray(list) && list.length <= ENTRIES_MAX, name)
    for (const text of list) assertText(text, max, name)
  }
  assertLines(finding)
  for (const score of [finding.scanner_score, finding.cvss_score]) {
    assert.ok(score === null || (typeof score === 'number' && score >= 0 && score <= 10), 'score')
  }
  assert.match(finding.fingerprint, /^[0-9a-f]{64}$/)
  assert.match(finding.relocation ?? '0'.repeat(64), /^[0-9a-f]{64}$/)
  assert.match(finding.similarity ?? '', /^(?:[0-9a-f]{2}){0,32}$/)
}

export function assertSummaryBounded(summary: ReportSummary): void {
  for (const count of [summary.findings, summary.components, summary.skipped]) {
    assert.ok(Number.isSafeInteger(count) && count >= 0, 'count')
  }
  assert.ok(summary.warnings.length <= 51, 'warnings')
  for (const warning of summary.warnings) assertText(warning, 300, 'warning')
  for (const tool of summary.tools) {
    assertText(tool.name, 300, 'tool')
    if (tool.version !== null) assertText(tool.version, 100, 'version')
  }
  assert.match(summary.category ?? 'none', /^[A-Za-z0-9._/:-]{1,100}$/)
}

const STATEMENT_TEXTS = { package: 400, product: 1000, justification: 300, comment: 2000 } as const

/** Checks that the database can store a statement of a VEX document. */
export function assertStatementBounded(statement: VexStatement): void {
  assert.ok(VEX_STATUSES.includes(statement.status), 'status')
  assert.ok(statement.vuln_ids.length > 0 && statement.vuln_ids.length <= 50, 'vuln_ids')
  for (const id of statement.vuln_ids) assertText(id, 300, 'vuln_ids')
  assert.ok(statement.package !== null || statement.product !== null, 'package or product')
  for (const [name, max] of Object.entries(STATEMENT_TEXTS)) {
    const text = statement[name as keyof typeof STATEMENT_TEXTS]
    if (text !== null) assertText(text, max, name)
  }
  assert.match(statement.stated_at ?? '1970-01-01T00:00:00.000Z', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
}

function assertLines(finding: ParsedFinding): void {
  const { path, start_line: start, end_line: end } = finding
  if (start === null) assert.equal(end, null)
  else {
    assert.ok(path !== null && Number.isSafeInteger(start) && start >= 1, 'start_line')
    assert.ok(end !== null && end >= start && end <= INTEGER_MAX, 'end_line')
  }
  for (const column of [finding.start_column, finding.end_column]) {
    if (column === null) continue
    assert.ok(start !== null && Number.isSafeInteger(column) && column >= 1 && column <= INTEGER_MAX, 'column')
  }
}

function assertText(text: unknown, max: number, name: string): void {
  assert.ok(typeof text === 'string', `${name} is a string`)
  assert.ok(text.length > 0 && text.length <= max, `${name} is ${text.length} long`)
  assert.ok(!text.includes('\u0000') && text.isWellFormed(), `${name} can be stored`)
}
