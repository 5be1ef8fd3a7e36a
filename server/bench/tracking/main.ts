// `npm run bench:tracking`: how well findings keep their identity, and which findings are one
// issue, on histories of public repositories. Exits with 1 if a figure is below its bar.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { describeMachine, type Machine } from '../machine.ts'
import { type Shiplock, withShiplock } from '../setting.ts'
import { type Answer, isWrong } from './issue-score.ts'
import { readJudgedPairs } from './judged-pairs.ts'
import { type LocatedMiss, measureIdentity, type ScanScore } from './measure-identity.ts'
import { measureIssues } from './measure-issues.ts'
import { DATA_DIRECTORY } from './packed-data.ts'
import { repositoriesOf, type Selection } from './tracking-data.ts'
import { summarize, type TrackingReport, toMarkdown, toTables } from './tracking-report.ts'

const USAGE = `Usage: npm run bench:tracking -- [options]
  --repository <name>  only repositories with this in their name
  --tool <name>        only this scanner; leaves out the issues
  --data <directory>   instead of server/bench/tracking/data
  --json               print JSON instead of tables
  --verbose            print every finding that was lost or mistaken, and every pair judged differently
  --write              write server/bench/tracking/results.md`
const RESULTS = new URL('./results.md', import.meta.url)
/** The data can be imported again, so nothing needs to survive a crash. */
const THROW_AWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
const WORKERS = 2

const say = (line: string) => process.stderr.write(`${line}\n`)
const options = readOptions()
if (options.help) console.log(USAGE)
else await main()

function readOptions() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: { repository: text, tool: text, data: text, json: flag, verbose: flag, write: flag, help: flag },
  })
  return values
}

async function main(): Promise<void> {
  const { data = DATA_DIRECTORY, repository = null, tool = null } = options
  const selection: Selection = { data, repository, tool }
  const repositories = repositoriesOf(selection)
  if (repositories.length === 0) throw new Error(`No repository of ${data} has "${repository}" in its name`)
  const { report, machine } = await withShiplock(THROW_AWAY, (shiplock) => run(shiplock, selection, repositories))
  if (options.write)
    await writeFile(RESULTS, toMarkdown(report, { date: new Date().toISOString().slice(0, 10), machine }))
  console.log(options.json ? toJson(report) : toTables(report))
  for (const line of report.missed) say(`Below its bar. ${line}`)
  if (report.missed.length > 0) process.exitCode = 1
}

type Run = { report: TrackingReport; machine: Machine }

async function run(shiplock: Shiplock, selection: Selection, repositories: string[]): Promise<Run> {
  const scans: ScanScore[] = []
  const answers: Answer[] = []
  const pairs = selection.tool === null ? readJudgedPairs(selection.data) : []
  const waiting = [...repositories]
  await Promise.all(Array.from({ length: WORKERS }, work))
  scans.sort((a, b) => (`${a.repository} ${a.tool}` < `${b.repository} ${b.tool}` ? -1 : 1))
  return { report: summarize(scans, answers), machine: await describeMachine(shiplock.sql) }

  async function work(): Promise<void> {
    for (let repository = waiting.shift(); repository !== undefined; repository = waiting.shift()) {
      const startedAt = performance.now()
      scans.push(...(await measureIdentity(shiplock, selection, repository)).map(announce))
      const judged = pairs.filter((pair) => pair.repository === repository)
      answers.push(...(await measureIssues(shiplock, selection, repository, judged)).map(announceAnswer))
      say(`${repository}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    }
  }
}

function announce(scan: ScanScore): ScanScore {
  if (scan.unfound > 0)
    say(`${scan.repository} ${scan.tool}: ${scan.unfound} of ${scan.results} results have no finding`)
  if (options.verbose) for (const miss of scan.misses) say(`${scan.repository} ${scan.tool}: ${describeMiss(miss)}`)
  return scan
}

function describeMiss({ step, is, isRenamed, old, to, seenAt, before, after }: LocatedMiss): string {
  const place = (index: number | null) => {
    const result = index === null ? undefined : after.results[index]
    return result === undefined ? 'nowhere' : `${result.path}:${result.startLine}:${result.startColumn}`
  }
  const result = before.results[old]
  const from = `${result?.rule} ${result?.path}:${result?.startLine}:${result?.startColumn}`
  return `step ${step}, ${is}${isRenamed ? ', renamed' : ''}: ${from} is at ${place(to)}, recognized at ${place(seenAt)}`
}

function announceAnswer(answer: Answer): Answer {
  const { pair, isJoined } = answer
  const [a, b] = [pair.a, pair.b].map(({ tool, rule, path, start_line }) => `${tool} ${rule} ${path}:${start_line}`)
  const said = isJoined === null ? 'not found' : isJoined ? 'wrongly joined' : 'not joined'
  if (options.verbose && (isJoined === null || isWrong(answer)))
    say(`${pair.repository} ${pair.kind}, ${said}: ${a} and ${b} (${pair.why})`)
  return answer
}

function toJson({ scans, all, byTool, issues, missed }: TrackingReport): string {
  const withoutMisses = scans.map(({ misses: _, ...scan }) => scan)
  const figures = { all, byTool: Object.fromEntries(byTool), issues: Object.fromEntries(issues) }
  return JSON.stringify({ ...figures, scans: withoutMisses, missed }, null, 2)
}
