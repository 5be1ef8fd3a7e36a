import { useMutation } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { type ComparedResult, compareDryRuns, type DryRun } from './compare-dry-runs.ts'

export type DryRunRequest = {
  subject: 'runs' | 'deployments'
  repository: string
  environment: string
}

export type DryRunOutcome = {
  /** The text that was tried. */
  file: string
  subject: DryRunRequest['subject']
  tried: DryRun
  applied: DryRun | null
  results: ComparedResult[]
}

type Trial = { file: string; appliedFile: string; request: DryRunRequest }

/** Tries a file, and then the applied one on the same runs. The server runs one at a time. */
export function useDryRun() {
  const { slug: org } = useOrganization()
  return useMutation({
    mutationFn: async ({ file, appliedFile, request }: Trial): Promise<DryRunOutcome> => {
      const tried = await tryFile(org, file, request)
      const applied = appliedFile === '' ? null : await tryFile(org, appliedFile, request)
      return { file, subject: request.subject, tried, applied, results: compareDryRuns(tried, applied) }
    },
  })
}

async function tryFile(org: string, file: string, { subject, repository, environment }: DryRunRequest) {
  const { data } = await client.POST('/app/api/orgs/{org}/policies/dry-run', {
    params: { path: { org } },
    body: { file, subject, ...(repository && { repository }), ...(environment && { environment }) },
  })
  return (data as { data: DryRun }).data
}
