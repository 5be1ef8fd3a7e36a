import type { StoredRun } from './run.store.ts'

/** The wire form of a run with one of its attempts (specification, "CI run"). `baseUrl` is where the console is. */
export function toCiRun(run: StoredRun, baseUrl: string) {
  return {
    id: run.id,
    provider: run.provider,
    ci_system: run.ci_system,
    ci_system_name: run.ci_system_name,
    external_run_id: run.external_run_id,
    attempt: run.attempt,
    repository: run.repository,
    commit_sha: run.commit_sha,
    ref: run.ref,
    pipeline_name: run.pipeline_name,
    url: run.url,
    status: run.status,
    started_at: run.started_at,
    completed_at: run.completed_at,
    actor: run.actor,
    event: run.event,
    deadline_at: run.deadline_at,
    trust: run.trust,
    linked_repository: run.linked_repository,
    credential: { type: run.credential.type, name: run.credential.name },
    app_url: `${baseUrl}/runs/${run.id}`,
    created_at: run.created_at,
    updated_at: run.updated_at,
  }
}
