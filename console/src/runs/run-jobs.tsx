import { useMemo } from 'react'
import { api } from '../api/client.ts'
import { LayeredGraph } from '../graph/layered-graph.tsx'
import { Section } from '../page/section.tsx'
import { Problem } from '../page/states.tsx'
import { jobGraph } from './job-graph.ts'
import type { Report } from './reports/report-card.tsx'

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
