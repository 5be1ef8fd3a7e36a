import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from './run-status.ts'

const EVENTS = ['push', 'pull_request', 'tag', 'schedule', 'manual', 'other'] as const

const CI_SYSTEM = 'The CI system, such as `buildkite`.'
const EXTERNAL_RUN_ID = 'The id of the run in its CI system.'

/**
 * White space and control characters, written so that every dialect of regular expressions reads
 * them.
 */
const BLANK = '\\s\\x00-\\x1f\\x7f-\\x9f'
/**
 * No `@` before the path, where it ends credentials; no backslash, which URL parsers read as a
 * slash.
 */
const HTTP_URL = `^[Hh][Tt][Tt][Pp][Ss]?://[^${BLANK}/?#\\\\@]+(?:[/?#][^${BLANK}]*)?$`
const RunUrl = Type.String({
  maxLength: 2048,
  pattern: HTTP_URL,
  description:
    'The page of the run in its CI system: an http or https URL without credentials, white space or control characters.',
})

/** Body of createCiRun. */
export const NewCiRun = Closed({
  ci_system: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$', description: CI_SYSTEM }),
  ci_system_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'The display name of the CI system.' }),
  ),
  external_run_id: Type.String({ pattern: '^[A-Za-z0-9._:\\/-]{1,128}$', description: EXTERNAL_RUN_ID }),
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      default: 1,
      description: 'A higher number than the newest attempt adds an attempt to the run. A lower number is an error.',
    }),
  ),
  repository: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'A URL, an scp-style address or `host/owner/name`. A URL with credentials is refused.',
  }),
  commit_sha: Type.String({
    pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$',
    description: 'The full SHA-1 or SHA-256 of the commit.',
  }),
  ref: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Branch or tag, with or without `refs/heads/`.' }),
  ),
  pipeline_name: Type.String({ minLength: 1, maxLength: 200, description: 'The name of the pipeline or workflow.' }),
  url: Type.Optional(RunUrl),
  status: Type.Optional(
    OneOf(['in_progress', 'queued'], {
      default: 'in_progress',
      description: 'To start a queued run, create it again with `in_progress`.',
    }),
  ),
  started_at: Type.Optional({ ...Timestamp, description: 'When the attempt started. Defaults to now.' }),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Who or what started the run. Never used for billing or approvals.',
    }),
  ),
  event: Type.Optional(OneOf(EVENTS, { default: 'other', description: 'The event that started the run.' })),
  timeout_minutes: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 4320,
      default: 360,
      description: 'Minutes from creation until an attempt that is still open becomes `timed_out`.',
    }),
  ),
})
/** The validated body: fields with a default are always present. */
export type NewCiRun = Static<typeof NewCiRun> &
  Required<Pick<Static<typeof NewCiRun>, 'attempt' | 'status' | 'event' | 'timeout_minutes'>>

/** Body of updateCiRun. */
export const CiRunUpdate = Closed({
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999, description: 'The attempt to update. Defaults to the newest.' }),
  ),
  status: Type.Optional(
    OneOf(RUN_STATUSES, { description: 'A final status finishes the attempt. A finished attempt cannot change.' }),
  ),
  completed_at: Type.Optional({
    ...Timestamp,
    description: 'When the attempt finished. Requires a final status, and defaults to now with one.',
  }),
  url: Type.Optional(RunUrl),
})
export type CiRunUpdate = Static<typeof CiRunUpdate>

export const RunPath = Closed({ run_id: { ...ItemId, description: 'The id of the CI run.' } })

const LinkedRepository = Closed(
  { provider: Type.String(), id: Type.String({ description: "The provider's id of the repository." }) },
  { description: 'The repository of a connected provider with the same host and name.' },
)

const Credential = Closed(
  { type: Type.String({ description: '`api_key`.' }), name: Type.String() },
  { description: 'The credential that created the run.' },
)

/** Response of createCiRun and updateCiRun (specification, "CI run"). */
export const CiRun = Closed(
  {
    id: Type.String(),
    provider: Type.String({ description: '`other` for runs created through this API.' }),
    ci_system: Type.String({ description: CI_SYSTEM }),
    ci_system_name: Nullable(Type.String({ description: 'The display name of the CI system.' })),
    external_run_id: Type.String({ description: EXTERNAL_RUN_ID }),
    attempt: Type.Integer({ minimum: 1, maximum: 999, description: 'The attempt that this object describes.' }),
    repository: Type.String({ description: '`host/owner/name`, whatever form the request used.' }),
    commit_sha: Type.String(),
    ref: Nullable(Type.String({ description: 'Branch or tag, as sent.' })),
    pipeline_name: Type.String(),
    url: Nullable(Type.String({ description: 'The page of the run in its CI system.' })),
    status: OneOf(RUN_STATUSES, { description: 'The status of the attempt.' }),
    started_at: Timestamp,
    completed_at: Nullable({ ...Timestamp, description: 'Null until the attempt has a final status.' }),
    actor: Nullable(Type.String({ description: 'Who or what started the run, as sent.' })),
    event: OneOf(EVENTS, { description: 'The event that started the run.' }),
    deadline_at: { ...Timestamp, description: 'When the attempt becomes `timed_out` if it is still open.' },
    trust: Type.String({ description: '`self_reported` for runs created through this API.' }),
    linked_repository: Nullable(LinkedRepository),
    credential: Credential,
    app_url: Type.String({ description: 'The page of the run in Shiplock.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'CiRun' },
)
