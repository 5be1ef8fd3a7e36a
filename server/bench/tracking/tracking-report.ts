import type { Machine } from '../machine.ts'
import { markdownTable } from '../report.ts'
import { missedBars } from './bars.ts'
import { type Counts, f1Of, precisionOf, recallOf, type Share } from './identity-score.ts'
import { type Answer, type IssueScore, scoreIssues } from './issue-score.ts'
import type { PairGroup } from './judged-pairs.ts'
import { addTrackers, type ScanScore, TRACKERS, type Tracker } from './measure-identity.ts'

export type TrackingReport = {
  scans: ScanScore[]
  all: ScanScore['scores']
  byTool: Map<string, ScanScore['scores']>
  issues: Map<PairGroup, IssueScore>
  /** Sentences. Empty if every figure reaches its bar. */
  missed: string[]
}

const NAMES: Record<Tracker, string> = { shiplock: 'Shiplock', github: 'GitHub', defectDojo: 'DefectDojo' }

export function summarize(scans: ScanScore[], answers: Answer[]): TrackingReport {
  const groups = [...Map.groupBy(scans, ({ tool }) => tool)].sort(([a], [b]) => (a < b ? -1 : 1))
  const byTool = new Map(groups.map(([tool, group]) => [tool, addTrackers(group.map(({ scores }) => scores))]))
  const all = addTrackers(scans.map(({ scores }) => scores))
  const issues = scoreIssues(answers)
  return { scans, all, byTool, issues, missed: missedBars({ all, byTool, issues }) }
}

/** The tables, as Markdown. */
export function toTables({ scans, all, byTool, issues }: TrackingReport): string {
  const rows = [['all', all] as const, ...byTool].filter(isMeasured)
  const byScan = scans.map(
    ({ repository, tool, scores }) => [`${repository.replace('__', '/')}, ${tool}`, scores] as const,
  )
  return [
    'Identity, F1: flagged text unchanged / also edited in place and in moved blocks',
    markdownTable([['Scanner', 'Findings', ...TRACKERS.map((tracker) => NAMES[tracker])], ...rows.map(f1Row)]),
    'Identity, precision and recall, unchanged / with edits',
    markdownTable([['Scanner', ...TRACKERS.map((tracker) => NAMES[tracker])], ...rows.map(precisionRow)]),
    'Findings kept, of those that the line maps keep',
    markdownTable([['Findings', ...TRACKERS.map((tracker) => NAMES[tracker]), 'Of'], ...keptRows(all)]),
    'Identity by repository, F1',
    markdownTable([
      ['Scanner', 'Findings', ...TRACKERS.map((tracker) => NAMES[tracker])],
      ...byScan.filter(isMeasured).map(f1Row),
    ]),
    ...(issues.size === 0 ? [] : ['Unique issues, on pairs judged by hand', issueTable(issues)]),
  ].join('\n\n')
}

/** Scanners with one report only are there for the issues. */
function isMeasured([, { shiplock }]: Row): boolean {
  return expected(shiplock.withEdits) > 0
}

type Row = readonly [name: string, scores: ScanScore['scores']]

function f1Row([name, scores]: Row): string[] {
  const { unchanged, withEdits } = scores.shiplock
  const findings = `${expected(unchanged)} / ${expected(withEdits)}`
  return [name, findings, ...TRACKERS.map((tracker) => bothMeasures(scores[tracker], (counts) => digits(f1Of(counts))))]
}

function precisionRow([name, scores]: Row): string[] {
  const figures = (counts: Counts) => `${digits(precisionOf(counts))} ${digits(recallOf(counts))}`
  return [name, ...TRACKERS.map((tracker) => bothMeasures(scores[tracker], figures))]
}

function bothMeasures(score: { unchanged: Counts; withEdits: Counts }, figure: (counts: Counts) => string): string {
  return `${figure(score.unchanged)} / ${figure(score.withEdits)}`
}

function keptRows(all: ScanScore['scores']): string[][] {
  const row = (name: string, of: 'renamed' | 'edited' | 'moved') => {
    const shares: Share[] = TRACKERS.map((tracker) => all[tracker][of])
    return [name, ...shares.map(({ kept }) => `${kept}`), `${shares[0]?.of ?? 0}`]
  }
  return [row('in renamed files', 'renamed'), row('edited in place', 'edited'), row('in moved blocks', 'moved')]
}

function issueTable(issues: ReadonlyMap<string, IssueScore>): string {
  const rows = [...issues].map(([name, score]) => [
    name,
    `${score.pairs}`,
    digits(score.precision),
    digits(score.recall),
    `${score.falsePositives}`,
    `${score.falseNegatives}`,
    `${score.missing}`,
  ])
  return markdownTable([
    ['Pairs', 'Judged', 'Precision', 'Recall', 'Wrongly joined', 'Not joined', 'Not among the findings'],
    ...rows,
  ])
}

/** How many findings a tracker should recognize. */
function expected({ truePositives, falseNegatives }: Counts): number {
  return truePositives + falseNegatives
}

/** Rounded down, so that 1.0000 means all. */
function digits(value: number): string {
  return (Math.floor(value * 10_000) / 10_000).toFixed(4)
}

export function toMarkdown(report: TrackingReport, { date, machine }: { date: string; machine: Machine }): string {
  const { cores, processor, node, postgres } = machine
  const unsure = report.all.shiplock.unsure
  return `# Identity of findings and unique issues

Written by \`npm run bench:tracking -- --write\` on ${date}: ${cores} cores (${processor}), Node ${node}, PostgreSQL ${postgres}.

Reports of public repositories are uploaded commit by commit; \`data/sources.json\` names repositories, scanners and
licenses. The truth comes from line maps between the commits, on which several of git's diff algorithms agree. ${unsure} findings
are left out: on lines where they disagree, or where new text with a new result of the same rule replaces them. "Findings" counts those of one report that the next report contains.

- Shiplock: uploads to a server with a PostgreSQL of its own. A finding is recognized if its id is the same.
- GitHub: code scanning by its documentation. An alert is one tool, rule, path and \`primaryLocationLineHash\`, which the
  upload action computes from the text of the flagged and the following lines if the scanner did not write it.
- DefectDojo: its default for SARIF by its documentation, the hash of title, CWE, line, file path and description. Ids that
  scanners write as fingerprints are not used.

${toTables(report)}

${report.missed.length === 0 ? 'Every figure reaches its bar.' : `Below their bars:\n\n${report.missed.map((line) => `- ${line}`).join('\n')}`}
`
}
