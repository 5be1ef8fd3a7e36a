import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { formatReportedTool, type ParsedFinding } from '../../formats/report/parsed-report.ts'
import { ReportMembers } from '../../reconcile/report-members.ts'
import { groupMembers } from './group-members.ts'
import { createContextHasher } from './grouping-facts.ts'

const FIXTURES = new URL('../../../../test/fixtures/sarif/', import.meta.url)
const PIECE_BYTES = 65_536
const NAMES = { canonicalId: (id: string) => id, rules: RULES }

/** What a scanner says of a result beside its rule. */
function tellOf({ path, start_line, end_line, start_column, end_column, ...finding }: ParsedFinding): string {
  const { context, fingerprint, description, resource_name } = finding
  const place = [path, start_line, end_line, start_column, end_column]
  return JSON.stringify([...place, context, fingerprint, description, resource_name])
}

/** The results that share an issue with another one of their rule from which the report tells them apart. */
function listMixed(findings: readonly ParsedFinding[]): string[] {
  const members = new ReportMembers(true, createContextHasher(createSecretKey(Buffer.alloc(32))), RULES)
  for (const finding of findings) members.add(finding)
  const names = findings.map(({ tool, subject = null }) => formatReportedTool(tool, subject))
  members.assignStreams([...new Set(names)].map((name, id) => ({ id, names: [name] })))
  const groups = groupMembers(
    findings.map((_, position) => members.get(position)),
    NAMES,
  )
  return groups.flatMap(({ members: grouped }) => {
    const byRule = grouped.filter(({ reason: { code } }) => code === 'same_fingerprint' || code === 'same_location')
    const results = byRule.map(({ member: { position } }) => findings[position as number] as ParsedFinding)
    const ofRule = Map.groupBy(results, ({ tool, rule_id }) => `${tool} ${rule_id}`)
    return [...ofRule].flatMap(([rule, equal]) => (new Set(equal.map(tellOf)).size > 1 ? [rule] : []))
  })
}

for (const file of readdirSync(FIXTURES).filter((name) => name.endsWith('.sarif')))
  test(`results that a scanner tells apart in ${file} never share an issue by their rule`, async () => {
    const { findings } = await parseReport(readFileSync(new URL(file, FIXTURES)), PIECE_BYTES)
    assert.deepEqual(listMixed(findings), [])
  })
