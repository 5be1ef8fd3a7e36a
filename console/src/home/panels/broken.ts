import type { Schema } from '../../api/client.ts'

type Run = Schema<'PipelineRun'>

type Deployment = Schema<'Deployment'>

/** A failed run of a default branch, or a failed deployment. */
export type Broken = { key: string; at: string; repository: string } & (
  | { run: Run; deployment?: undefined }
  | { deployment: Deployment; run?: undefined }
)

type Failures = {
  runs: readonly Run[]
  deployments: readonly Deployment[]
  repositories: readonly { full_name: string; tracked_branch: string | null }[]
}

const USUAL_BRANCHES = ['main', 'master', 'trunk']

/** Failures that somebody should look at, newest first. A deployment stands for the run that makes it. */
export function newestBroken({ runs, deployments, repositories }: Failures): Broken[] {
  const branches = new Map(repositories.map(({ full_name, tracked_branch }) => [full_name, tracked_branch]))
  const deploying = new Set(deployments.map(({ pipeline_run_id }) => pipeline_run_id))
  const isDefault = ({ repository_full_name, branch }: Run) => {
    const tracked = branches.get(repository_full_name)
    return branch !== null && (tracked ? branch === tracked : USUAL_BRANCHES.includes(branch))
  }
  const pipelines = new Set<string>()
  /** The newest failure of a pipeline stands for those before it. */
  const isNewest = ({ repository_full_name, workflow_name, branch }: Run) => {
    const pipeline = JSON.stringify([repository_full_name, workflow_name, branch])
    return pipelines.size < pipelines.add(pipeline).size
  }
  const broken: Broken[] = [
    ...runs
      .filter((run) => isDefault(run) && !deploying.has(run.id) && isNewest(run))
      .map((run) => ({
        key: run.id,
        at: run.completed_at ?? run.started_at,
        repository: run.repository_full_name,
        run,
      })),
    ...deployments.map((deployment) => ({
      ...{ key: deployment.id, at: deployment.updated_at, repository: deployment.repository_full_name, deployment },
    })),
  ]
  return broken.sort((a, b) => b.at.localeCompare(a.at))
}
