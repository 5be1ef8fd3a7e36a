import { useMemo } from 'react'
import { api, type Schema } from '../../api/client.ts'
import type { GraphEdge, GraphNode } from '../../graph/graph.ts'
import { reduceEdges } from '../../graph/graph-layout.ts'
import { LayeredGraph } from '../../graph/layered-graph.tsx'
import { statusLook } from '../../page/badges.tsx'
import { Section } from '../../page/sections.tsx'
import { Problem } from '../../page/states.tsx'
import { formatDuration } from '../../page/time.tsx'
import { type Report, statusOfReport, worstFirst } from '../reports/report-list.tsx'

/** The worst comes first. */
const ORDER = ['failure', 'timed_out', 'cancelled', 'in_progress', 'queued', 'success', 'skipped']

type RunJobsProps = {
  org: string
  runId: string
  attempt: number
  dependencies: Record<string, string[]>
  /** The reports of the attempt. */
  reports: Report[]
}

/** The jobs of an attempt as a graph of what needs what. */
export function RunJobs({ org, runId, attempt, dependencies, reports }: RunJobsProps) {
  const query = api.useQuery('get', '/app/api/orgs/{org}/runs/{id}/jobs', {
    params: { path: { org, id: runId }, query: { attempt } },
  })
  const jobs = query.data?.data
  const { nodes, edges } = useMemo(
    () => jobGraph({ dependencies, jobs: jobs ?? [], reports }),
    [dependencies, jobs, reports],
  )
  if (query.isError && jobs === undefined)
    return <Problem error={query.error} title="The jobs could not be loaded" retry={() => query.refetch()} />
  if (nodes.length === 0) return null
  return (
    <Section title="Jobs" count={nodes.length}>
      <LayeredGraph label="Jobs" nodes={nodes} edges={edges} />
    </Section>
  )
}

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

/**
 * The jobs of a run and their order. Jobs are those of the workflow file, those that the code host
 * reports, and those that have sent a report. A job that runs several times, such as once per
 * system, is one node.
 */
function jobGraph({ dependencies, jobs, reports }: JobGraphOptions): { nodes: GraphNode[]; edges: GraphEdge[] } {
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
