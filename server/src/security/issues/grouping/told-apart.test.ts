import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { SeededRandom } from '../../../platform/seeded-random.ts'
import { formatReportedTool, type ParsedFinding } from '../../formats/report/parsed-report.ts'
import { ReportMembers } from '../../reconcile/report-members.ts'
import { groupMembers } from './group-members.ts'
import { createContextHasher } from './grouping-facts.ts'

const FIXTURES = new URL('../../../../test/fixtures/', import.meta.url)
const PIECE_BYTES = 65_536
const NAMES = { canonicalId: (id: string) => id, rules: RULES }

/** What a scanner says of a result beside its rule. */
function tellOf({ path, start_line, end_line, start_column, end_column, ...finding }: ParsedFinding): string {
  const { context, fingerprint, description, resource_name } = finding
  const place = [path, start_line, end_line, start_column, end_column]
  return JSON.stringify([...place, context, fingerprint, description, resource_name])
}

function groupFindings(findings: readonly ParsedFinding[]) {
  const members = new ReportMembers(true, createContextHasher(createSecretKey(Buffer.alloc(32))), RULES)
  for (const finding of findings) members.add(finding)
  const names = findings.map(({ tool, subject = null }) => formatReportedTool(tool, subject))
  members.assignStreams([...new Set(names)].sort().map((name, id) => ({ id, names: [name] })))
  return groupMembers(
    findings.map((_, position) => members.get(position)),
    NAMES,
  )
}

/** The results that share an issue with another one of their rule from which the report tells them apart. */
function listMixed(findings: readonly ParsedFinding[]): string[] {
  return groupFindings(findings).flatMap(({ members: grouped }) => {
    const byRule = grouped.filter(({ reason: { code } }) => code === 'same_fingerprint' || code === 'same_location')
    const results = byRule.map(({ member: { position } }) => findings[position as number] as ParsedFinding)
    const ofRule = Map.groupBy(results, ({ tool, rule_id }) => `${tool} ${rule_id}`)
    return [...ofRule].flatMap(([rule, equal]) => (new Set(equal.map(tellOf)).size > 1 ? [rule] : []))
  })
}

/** Which findings are one issue, whatever the order of the findings. */
function listIssues(findings: readonly ParsedFinding[]): string[] {
  const issues = groupFindings(findings).map(({ members }) =>
    members.map(({ member: { position } }) => JSON.stringify(findings[position as number])).sort(),
  )
  return issues.map((issue) => issue.join()).sort()
}

const SHUFFLES = 5

for (const file of globSync('{sarif,cyclonedx,spdx,cases}/*.{sarif,json}', { cwd: FIXTURES }).sort())
  test(`results that a scanner tells apart in ${file} never share an issue by their rule, in any order`, async (t) => {
    const read = () => parseReport(readFileSync(new URL(file, FIXTURES)), PIECE_BYTES)
    const { findings } = await read().catch(() => ({ findings: [] }))
    if (findings.length === 0) t.skip('it is no report with findings')
    assert.deepEqual(listMixed(findings), [])
    const random = new SeededRandom(findings.length)
    for (let turn = 0; turn < SHUFFLES; turn++) {
      const shuffled = findings
        .map((finding) => ({ finding, rank: random.below(1_000_000) }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ finding }) => finding)
      assert.deepEqual(listIssues(shuffled), listIssues(findings))
    }
  })
