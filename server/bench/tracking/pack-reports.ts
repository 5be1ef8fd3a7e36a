// node server/bench/tracking/pack-reports.ts OWNER__NAME REPORTS_DIR CHECKOUT_DIR [RULES_DIR]
// Packs the reports REPORTS_DIR/<tool>/<commit>.sarif of the commits that sources.json names.
// CHECKOUT_DIR is the directory that was scanned: sources.json names the one to write instead.
// RULES_DIR is a directory of Semgrep rules, whose path is part of their ids.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_DIRECTORY, readSource, writePacked } from './packed-data.ts'
import { trimReport } from './trim-report.ts'

const [repository, reports, checkout, rules] = process.argv.slice(2)
if (repository === undefined || reports === undefined || checkout === undefined) {
  throw new Error('usage: node pack-reports.ts OWNER__NAME REPORTS_DIR CHECKOUT_DIR [RULES_DIR]')
}

const source = readSource(repository)
mkdirSync(join(DATA_DIRECTORY, repository), { recursive: true })
for (const tool of readdirSync(reports).sort()) packTool(join(reports, tool), tool)

function packTool(directory: string, tool: string): void {
  const lines = source.commits.flatMap((commit, n) => {
    const file = join(directory, `${commit}.sarif`)
    return existsSync(file) ? [JSON.stringify({ n, commit, sarif: trimReport(readReport(file)) })] : []
  })
  const results = lines.map((line) => countResults(line))
  if (!results.some((count) => count > 0)) return
  const text = lines.map((line) => `${line}\n`).join('')
  const size = writePacked(join(DATA_DIRECTORY, repository ?? '', `${tool}.jsonl.br`), text)
  console.log(
    `${repository} ${tool}: reports ${lines.length}, results ${results.join(' ')}, ${text.length} -> ${size} bytes`,
  )
}

function countResults(line: string): number {
  const { sarif } = JSON.parse(line) as { sarif: { runs: { results: unknown[] }[] } }
  return sarif.runs.reduce((count, run) => count + run.results.length, 0)
}

/** Replaces the directories of this machine. */
function readReport(file: string): Parameters<typeof trimReport>[0] {
  const onWindows = /^[A-Z]:/.test(source.checkout)
  const text = readFileSync(file, 'utf8')
    .replaceAll(`file://${checkout}`, `file://${onWindows ? '/' : ''}${source.checkout}`)
    .replaceAll(checkout ?? '', source.checkout)
  return JSON.parse(rules === undefined ? text : text.replaceAll(`${rules.slice(1).replaceAll('/', '.')}.`, 'rules.'))
}
