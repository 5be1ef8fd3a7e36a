import { readFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Sql } from 'postgres'
import type { Json } from '../test/support/json.ts'

/** JSON.parse of the whole file, and COPY of one row for each result into a table without indexes. */
export async function importReport(sql: Sql, file: string) {
  const report = JSON.parse(await readFile(file, 'utf8'))
  await sql`
    create table if not exists bare_findings (
      rule_id text, level text, message text, path text, start_line integer, end_line integer, snippet text,
      fingerprint text
    )`
  const stream = await sql`copy bare_findings from stdin`.writable()
  const lines = report.runs[0].results.map(toLine)
  await pipeline(lines, stream)
  return { findings: lines.length }
}

function toLine({ ruleId, level, message, locations, partialFingerprints }: Json): string {
  const { artifactLocation, region } = locations[0].physicalLocation
  const fingerprint = partialFingerprints.primaryLocationLineHash
  const { startLine, endLine, snippet } = region
  const fields = [ruleId, level, message.text, artifactLocation.uri, startLine, endLine, snippet.text, fingerprint]
  return `${fields.map(toField).join('\t')}\n`
}

function toField(value: string | number): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}
