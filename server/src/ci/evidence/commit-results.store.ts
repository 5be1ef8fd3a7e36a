import type { TriggerKind } from '../../codehosts/host-run.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { RepositoryKey } from '../../repositories/repository-key.ts'
import type { RunStatus } from '../runs/run-status.ts'

/** The newest result of a check of a commit. Times are formatted as in the API. */
export type CheckResult = {
  commit_sha: string
  name: string
  source: string
  status: RunStatus
  url: string | null
  started_at: string | null
  completed_at: string | null
}

const CHECKS_MAX = 2000

/** The newest result of each check of some commits, by commit, name and source. */
export async function listCommitChecks(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  shas: readonly string[],
): Promise<CheckResult[]> {
  return db<CheckResult[]>`
    select distinct on (commit_sha, name, source) commit_sha, name, source, status, url,
      rfc3339(started_at) as started_at, rfc3339(completed_at) as completed_at
    from commit_checks
    where org_id = ${org_id}
      and provider = ${provider}
      and repository_id = ${repository_id}
      and commit_sha = any(${shas as string[]})
    order by commit_sha, name, source, host_version desc
    limit ${CHECKS_MAX}`
}

/** A code host's run of a commit with its newest attempt. Times are formatted as in the API. */
export type RunResult = {
  id: string
  pipeline_name: string
  attempt: number
  status: RunStatus
  url: string | null
  trigger_kind: TriggerKind
  created_at: string
  completed_at: string | null
}

const RUNS_MAX = 1000

/** The code host's runs of a commit, oldest first. */
export async function listCommitRuns(
  db: Db,
  { org_id, provider, repository_id }: RepositoryKey,
  sha: string,
): Promise<RunResult[]> {
  return db<RunResult[]>`
    select run.id, run.pipeline_name, run.newest_attempt as attempt, run.status, run.url, provider_run.trigger_kind,
      rfc3339(run.created_at) as created_at, rfc3339(run.completed_at) as completed_at
    from provider_runs provider_run
    join ci_runs run on run.org_id = provider_run.org_id and run.id = provider_run.run_id
    where provider_run.org_id = ${org_id}
      and provider_run.provider = ${provider}
      and provider_run.repository_id = ${repository_id}
      and provider_run.commit_sha = ${sha}
    order by run.created_at, run.id
    limit ${RUNS_MAX}`
}
