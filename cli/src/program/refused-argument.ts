import type { ShiplockError } from '@shiplock/sdk'

/** The arguments of the command line that become fields of a request. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  '/path/id': 'ID',
  '/path/run_id': '--run',
  '/body/run_id': '--run',
  '/body/gate_id': '--gate',
  '/body/environment': '--environment',
  '/body/job': '--job',
  '/body/job/name': '--job',
  '/body/job/matrix': '--matrix',
  '/body/name': '--name',
  '/body/summary': '--summary',
  '/body/repository': '--repository',
  '/body/commit_sha': '--commit',
  '/body/commitSha': '--commit',
  '/body/ref': '--ref',
  '/body/gitRef': '--ref',
  '/body/category': '--category',
  '/body/ci_system': '--ci-system',
  '/body/ci_instance': '--ci-instance',
  '/body/job/key': '--job-key',
  '/body/job/instance': '--job-instance',
  '/body/job/retries': '--job-retries',
  '/body/job_instance': '--job-instance',
  '/body/expect/repository': '--repository',
  '/body/expect/commit_sha': '--commit',
  '/body/external_run_id': '--external-run-id',
  '/body/attempt': '--attempt',
  '/body/pipeline_name': '--pipeline',
  '/body/actor': '--actor',
  '/body/event': '--event',
  '/body/url': '--run-url',
  '/body/timeout_minutes': '--timeout-minutes',
  '/body/reason': '--reason',
  '/body/comment': '--comment',
  '/query/git_ref': '--ref',
  '/query/issue_id': '--issue',
}

const FIELD = /^(\/(?:path|query|body)\/[^:\s]+): /

/** The argument whose value the API refused, such as `--commit`; null if it refused something else. */
export function refusedArgument({ status, message }: ShiplockError): string | null {
  const field = status === 400 ? FIELD.exec(message)?.[1] : undefined
  if (field === undefined) return null
  const filter = /^\/query\/(\w+)$/.exec(field)?.[1]
  return ARGUMENTS[field] ?? (filter === undefined ? null : `--${filter.replaceAll('_', '-')}`)
}

/** What the API says about the request, with the name of the argument instead of that of the field. */
export function namingArgument(error: ShiplockError): string {
  const argument = refusedArgument(error)
  return argument === null ? error.message : error.message.replace(FIELD, `${argument} `)
}
