import { readFile } from 'node:fs/promises'
import { openCopyIn } from '../src/platform/db/client/copy.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Json } from '../test/support/json.ts'

const COLUMNS = [
  'org_id',
  'id',
  'stream_id',
  'repository_no',
  'fingerprint',
  'fingerprint_method',
  'ordinal',
  'content_hash',
  'kind',
  'severity',
  'reported_state',
  'state',
  'facet',
  'title',
  'description',
  'path',
  'start_line',
  'end_line',
  'vuln_ids',
  'cwes',
  'rule_id',
  'scanner_score',
  'issue_id',
  'grouping_code',
  'grouped_at',
  'first_seen_at',
  'created_at',
  'updated_at',
]

/**
 * JSON.parse of the whole file, and COPY of the rows that we store of it into a table without
 * indexes.
 */
export async function importReport(sql: Sql, file: string) {
  const { tool, results } = JSON.parse(await readFile(file, 'utf8')).runs[0]
  await sql`create table if not exists bare_findings (like findings)`
  const copy = await openCopyIn(sql.unsafe<object[]>(`copy bare_findings (${COLUMNS.join(', ')}) from stdin`))
  const lines = results.map((result: Json, nth: number) => toLine(result, tool.driver.rules[result.ruleIndex], nth))
  for (const line of lines) await copy.write(line)
  await copy.end()
  return { findings: lines.length }
}

const ORGANIZATION = '00000000-0000-4000-8000-000000000000'
const NOW = new Date().toISOString()

/** What we derive, hashes and ids, is given here: it is the cost of the rows that is asked for. */
function toLine({ ruleId, message, locations, partialFingerprints }: Json, rule: Json, nth: number): string {
  const { artifactLocation, region } = locations[0].physicalLocation
  const id = `00000000-0000-4000-8000-${nth.toString(16).padStart(12, '0')}`
  const hash = partialFingerprints.primaryLocationLineHash.slice(0, 16).repeat(4)
  const fields = [
    ...[
      ORGANIZATION,
      id,
      1,
      1,
      `\\x${hash}`,
      'primaryLocationLineHash',
      0,
      `\\x${hash.slice(0, 32)}`,
      'code',
      'high',
      'open',
      'open',
      1,
    ],
    ...[rule.shortDescription.text, message.text, artifactLocation.uri, region.startLine, region.endLine, '{}'],
    ...[`{${rule.properties.tags[1]}}`, ruleId, rule.properties['security-severity'], id, 'single', NOW, NOW, NOW, NOW],
  ]
  return `${fields.map(toField).join('\t')}\n`
}

function toField(value: string | number): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}
