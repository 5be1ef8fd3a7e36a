import type { Schema } from '../api/client.ts'
import type { GraphEdge, GraphNode } from '../graph/graph.ts'
import { reduceEdges } from '../graph/reduce-edges.ts'
import { statusLook } from '../page/badges.tsx'
import { formatDuration } from '../page/time.tsx'
import { statusOfReport, worstFirst } from './reports/report-status.ts'

type Job = Pick<Schema<'RunJob'>, 'name' | 'status' | 'duration_seconds' | 'html_url'>
type JobReport = { id: string; job: { name: string }; attestations: readonly { status: string }[] }
type JobGraphOptions = {
  /** The names of the jobs that each job needs, by the name of the job in the workflow file. */
  dependencies: Readonly<Record<string, readonly string[]>>
  /** The jobs as the code host reports them. */
  jobs: readonly Job[]
  reports: readonly JobReport[]
}
type Found = { jobs: Job[]; reports: JobReport[] }

/** The worst comes first. */
const ORDER = ['failure', 'timed_out', 'cancelled', 'in_progress', 'queued', 'success', 'skipped']

/**
 * The jobs of a run and their order. Jobs are those of the workflow file, those that the code host
 * reports, and those that have sent a report. A job that runs several times, such as once per
 * system, is one node.
 */
export function jobGraph({ dependencies, jobs, reports }: JobGraphOptions): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const names = Object.keys(dependencies)
  const found = new Map<string, Found>(names.map((name) => [name, { jobs: [], reports: [] }]))
  const entryOf = (runName: string): Found => {
    const name = jobOf(runName, names)
    const entry = found.get(name) ?? { jobs: [], reports: [] }
    found.set(name, entry)
    return entry
  }
  for (const job of jobs) entryOf(job.name).jobs.push(job)
  for (const report of reports) entryOf(report.job.name).reports.push(report)
  const edges = Object.entries(dependencies).flatMap(([to, needs]) => needs.map((from) => ({ from, to })))
  return { nodes: [...found].map(([name, entry]) => nodeOf(name, entry)), edges: reduceEdges(edges) }
}

/** The job of the workflow file. `Test (ubuntu)` and `Test / unit` are runs of the job `Test`. */
function jobOf(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name
  const fitting = known.filter((job) => name.startsWith(`${job} (`) || name.startsWith(`${job} / `))
  return fitting.toSorted((a, b) => b.length - a.length)[0] ?? name
}

function nodeOf(name: string, { jobs, reports }: Found): GraphNode {
  const [job] = jobs.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  const [report] = worstFirst(reports.map(({ id, ...rated }) => ({ id, status: statusOfReport(rated) ?? 'info' })))
  const status = job?.status ?? report?.status
  const { label, tone, icon } = statusLook(status ?? 'not_reported')
  const ran = jobs.filter(({ status }) => status !== 'skipped')
  const seconds = Math.max(-1, ...ran.map(({ duration_seconds }) => duration_seconds ?? -1))
  const details = [
    label,
    seconds >= 0 && formatDuration(seconds),
    jobs.length > 1 && `${jobs.length} jobs`,
    job === undefined && reports.length > 1 && `${reports.length} reports`,
  ]
  const href = report ? `#report-${report.id}` : job?.html_url
  const detail = details.filter(Boolean).join(' · ')
  return { id: name, label: name, tone, icon, detail, ...(href && { href }) }
}
