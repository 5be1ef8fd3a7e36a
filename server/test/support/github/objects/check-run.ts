import type { Annotation, Job, Run } from '../../hosts/types.ts'
import { integration } from './app.ts'
import { checkSuiteId, createdAt, pullRequestsOf } from './run.ts'
import { apiUrl, type Context, pageUrl } from './urls.ts'

/** GitHub's own App, which reports the jobs of workflows as check runs. */
const ACTIONS_APP = {
  id: 15368,
  slug: 'github-actions',
  name: 'GitHub Actions',
  permissions: { actions: 'write', checks: 'write', contents: 'write', deployments: 'write', statuses: 'write' },
  events: ['check_run', 'check_suite', 'deployment', 'push', 'status', 'workflow_dispatch'],
}

/** The account of that App. */
export const ACTIONS_BOT = 'github-actions[bot]'

export function actionsApp(context: Context) {
  const owner = context.account('github')
  return integration(context, { ...ACTIONS_APP, owner, created_at: new Date('2018-07-30T09:30:17Z') })
}

export function checkRun(context: Context, run: Run, job: Job) {
  const url = `${apiUrl(context, run.repository)}/check-runs/${job.id}`
  const page = `${pageUrl(context, run.repository)}/actions/runs/${run.id}/job/${job.id}`
  return {
    id: job.id,
    name: job.name,
    node_id: `CR_${job.id}`,
    head_sha: run.sha,
    external_id: `job-${job.id}`,
    url,
    html_url: page,
    details_url: page,
    status: job.status,
    conclusion: job.conclusion,
    started_at: job.started_at ?? createdAt(job),
    completed_at: job.completed_at,
    output: {
      title: null,
      summary: null,
      text: null,
      annotations_count: job.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: checkSuiteId(run) },
    app: actionsApp(context),
    pull_requests: pullRequestsOf(context, run),
  }
}

export function annotationObject(context: Context, run: Run, annotation: Annotation) {
  const path = annotation.path ?? '.github'
  const line = annotation.line ?? 1
  return {
    path,
    blob_href: `${pageUrl(context, run.repository)}/blob/${run.sha}/${path}`,
    start_line: line,
    start_column: null,
    end_line: line,
    end_column: null,
    annotation_level: annotation.level,
    title: annotation.title ?? '',
    message: annotation.message,
    raw_details: null,
  }
}
