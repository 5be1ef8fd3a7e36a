import { parseBranchName } from '../../repositories/repository-identity.ts'
import { getClaimedMembers } from './claimed-members.ts'
import type { AttemptRow, RunRow } from './pipeline-run-row.store.ts'

/** Fields that no source has a value for yet. */
const WITHOUT_VALUE = { sso_organization_id: null }
/**
 * Fields that only code hosts, and some claims, have a value for (specification, "Pipeline run").
 */
const WITHOUT_PROVIDER = {
  github_run_id: null,
  workflow_path: null,
  repository_id: null,
  repository_owner_id: null,
  commit_message: null,
  release_name: null,
  author_id: null,
  author_login: null,
  author_avatar_url: null,
  job_dependencies: {},
  run_number: null,
  actor_name: null,
  actor_avatar_url: null,
  actor_url: null,
  importance_score: null,
  anomaly_reasons: [],
  failure_category: null,
  failure_excerpt: null,
  failure_recurrence: null,
  azure: null,
}
const HOST_MEMBERS = formatMembers(WITHOUT_VALUE)
const OTHER_MEMBERS = formatMembers({ ...WITHOUT_VALUE, ...WITHOUT_PROVIDER })

function formatMembers(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}

/**
 * A pipeline run as JSON text. The text is put together from the columns without an object of its
 * shape, and what occurs twice is written once (docs/adr/0003-json-from-postgresql.md). `provided`
 * are the members that its code host provides; undefined for other runs.
 */
export function formatPipelineRun(run: RunRow, earlier: readonly AttemptRow[], provided: string | undefined): string {
  const fullName = run.repository.slice(run.repository.indexOf('/') + 1)
  const name = fullName.slice(fullName.lastIndexOf('/') + 1)
  const event = quote(run.event)
  const course = formatCourse(run)
  const instance = run.ci_instance === null ? '' : `"ci_instance":${quote(run.ci_instance)},`
  return `{"id":${quote(run.id)},"provider":${quote(run.provider)},"workflow_name":${quote(run.pipeline_name)},\
"repository_name":${quote(name)},"repository_full_name":${quote(fullName)},\
"repository_owner_login":${quote(fullName.slice(0, -name.length - 1))},"commit_sha":${quote(run.commit_sha)},\
"html_url":${quote(run.url)},"event_type":${event},"run_attempt":${run.number},${course},\
"attempts":[${earlier.map((attempt) => `${attemptJson(attempt, formatCourse(attempt))},`).join('')}${attemptJson(run, course)}],\
"ci_system":${quote(run.ci_system)},${instance}"trust":${quote(run.trust)},"created_at":"${rfc3339(run.created_at)}",\
"updated_at":"${rfc3339(run.updated_at)}","branch":${quote(parseBranchName(run.ref))},\
${provided === undefined ? membersWithoutHost(run, event) : `${provided},${HOST_MEMBERS}`}}`
}

function attemptJson({ number, actor }: AttemptRow, course: string): string {
  return `{"number":${number},${course},"triggered_by":${quote(actor)}}`
}

/** The members for the status and times of an attempt, which a run shares with its newest one. */
function formatCourse({ status, started_at, completed_at }: AttemptRow): string {
  const startedAt = rfc3339(started_at)
  const start = `"status":"${status}","started_at":"${startedAt}"`
  if (completed_at === null) return `${start},"completed_at":null,"duration_seconds":null`
  const completedAt = rfc3339(completed_at)
  const seconds = Math.floor((Date.parse(completedAt) - Date.parse(startedAt)) / 1000)
  return `${start},"completed_at":"${completedAt}","duration_seconds":${seconds}`
}

function membersWithoutHost(run: RunRow, event: string): string {
  const { claims, claimed_provider: provider, claimed_repository_id: repository_id } = run
  const actor = quote(run.actor)
  // The event as the CI system names it, if a token has told.
  const ownEvent = claims?.event_name ?? claims?.pipeline_source
  const trigger = `"trigger":{"event":${ownEvent === undefined ? event : quote(ownEvent)},"kind":${event},\
"actor":${actor},"pull_request":null,"merged_pull_request":null},"actor_login":${actor}`
  if (claims === null) return `${trigger},${OTHER_MEMBERS}`
  const claimed = getClaimedMembers({ provider, repository_id, claims })
  return `${trigger},${formatMembers({ ...WITHOUT_VALUE, ...WITHOUT_PROVIDER, ...claimed })}`
}

/** Without quotes, backslashes, control characters and lone surrogates, text is JSON as it is. */
const PLAIN = /^[ !#-[\]-\ud7ff]*$/

function quote(text: string | null): string {
  if (text === null) return 'null'
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

/**
 * A time of PostgreSQL, such as `2026-01-31 12:00:00.5+00`, in the form of the API: with
 * milliseconds.
 */
function rfc3339(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, text.indexOf('+')).slice(0, 3).padEnd(3, '0')}Z`
}
