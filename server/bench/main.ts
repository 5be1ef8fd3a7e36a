// `npm run bench`, `npm run bench -- [--json] [part of a benchmark's name]`. A missed bar is
// reported, not a failure.
import { writeFile } from 'node:fs/promises'
import { acceptDeliveries } from './accept-deliveries.bench.ts'
import { applyDeliveries } from './apply-deliveries.bench.ts'
import { backups } from './backup.bench.ts'
import { type Benchmark, type Result, summarize } from './benchmark.ts'
import { chainCheck } from './chain-check.bench.ts'
import { charts } from './charts.bench.ts'
import { createCiReport } from './create-ci-report.bench.ts'
import { createCiRun } from './create-ci-run.bench.ts'
import { createCiRunByToken } from './create-ci-run-by-token.bench.ts'
import { createCiRunOnCitus } from './create-ci-run-on-citus.bench.ts'
import { gateDecision } from './gate-decision.bench.ts'
import { gatePolls } from './gate-polls.bench.ts'
import { hostsApart } from './hosts-apart.bench.ts'
import { importConnection } from './import-connection.bench.ts'
import { importAdvisories } from './import-osv.bench.ts'
import { importSarif } from './import-sarif.bench.ts'
import { isolation } from './isolation.bench.ts'
import { largeLists } from './large-lists.bench.ts'
import { largeReport } from './large-report.bench.ts'
import { listFindings } from './list-findings.bench.ts'
import { listRuns } from './list-runs.bench.ts'
import { describeMachine } from './machine.ts'
import { putObject } from './put-object.bench.ts'
import { rateLimits } from './rate-limits.bench.ts'
import { regroups } from './regroup.bench.ts'
import { type Report, toMarkdown, toTable } from './report.ts'
import { retentionDrop, retentionLatency } from './retention.bench.ts'
import { sendFile } from './send-file.bench.ts'
import { type Setting, withSetting } from './setting.ts'
import { firstStart, secondStart } from './start-time.bench.ts'
import { newStatements, storedStatements } from './statements.bench.ts'
import { tokenVerification } from './token-verification.bench.ts'
import { traces } from './traces.bench.ts'
import { transparencyLog } from './transparency-log.bench.ts'
import { upgrades } from './upgrade.bench.ts'

const BENCHMARKS: Benchmark<Setting>[] = [
  createCiRun,
  createCiRunByToken,
  createCiRunOnCitus,
  rateLimits,
  traces,
  tokenVerification,
  listRuns,
  ...listFindings,
  ...importSarif,
  importAdvisories,
  createCiReport,
  putObject,
  ...sendFile,
  gateDecision,
  gatePolls,
  ...isolation,
  hostsApart,
  ...largeReport,
  ...importConnection,
  ...storedStatements,
  newStatements,
  acceptDeliveries,
  applyDeliveries,
  ...transparencyLog,
  firstStart,
  secondStart,
  ...chainCheck,
  ...retentionLatency,
  retentionDrop,
  ...regroups,
  // The last ones, because what they store would be in the others' way.
  ...largeLists,
  ...charts,
  ...backups,
  ...upgrades,
]
const RESULTS = new URL('./results.md', import.meta.url)

const say = (line: string) => process.stderr.write(`${line}\n`)
const json = process.argv.includes('--json')
const part = process.argv.slice(2).find((argument) => !argument.startsWith('-'))
await main()

async function main(): Promise<void> {
  const chosen = BENCHMARKS.filter(({ name, onlyByName }) => (part === undefined ? !onlyByName : name.includes(part)))
  if (chosen.length === 0)
    throw new Error(`There is no benchmark "${part}": ${BENCHMARKS.map(({ name }) => name).join(', ')}`)
  const report = await withSetting((setting) => run(chosen, setting))
  if (part === undefined) await writeFile(RESULTS, toMarkdown(report))
  console.log(json ? JSON.stringify(report, null, 2) : toTable(report.results))
  for (const { name } of report.results.filter(({ ok }) => ok === false)) say(`Missed its bar: ${name}`)
}

async function run(chosen: Benchmark<Setting>[], setting: Setting): Promise<Report> {
  const results: Result[] = []
  for (const benchmark of chosen) {
    if (benchmark.missing) {
      say(`${benchmark.name} is skipped: ${benchmark.missing}`)
      continue
    }
    say(`${benchmark.name}: ${benchmark.about} …`)
    results.push(summarize(benchmark, await benchmark.measure(setting)))
  }
  return { date: new Date().toISOString().slice(0, 10), machine: await describeMachine(setting.sql), results }
}
