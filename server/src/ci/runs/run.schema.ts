import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from './run-status.ts'
import { TRUST_CLASSES } from './trust.ts'

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

/** A URL that a credential states. */
export function StatedUrl(subject: string) {
  const description = `${subject}: http or https, without credentials, white space and control characters.`
  return Type.String({ maxLength: 2048, pattern: HTTP_URL, description })
}
const RunUrl = StatedUrl('The URL of the run in its CI system')

const CI_INSTANCE =
  'The CI server or organization that the run belongs to, as host and path, such as `ci.example.com/builds`.'
const CiInstance = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^[^/@\\\\${BLANK}]+(?:/[^/${BLANK}]+)*/?$`,
  description: `${CI_INSTANCE} Without a scheme. Servers number their runs alike: send it wherever it is known.`,
})

/** A trust level in a response. */
export function TrustLevel(description: string) {
  return OneOf(TRUST_CLASSES, { description })
}

/** The full SHA-1 or SHA-256 of a commit. */
export const COMMIT_SHA = '^(?:[0-9a-f]{40}|[0-9a-f]{64})$'

const RepositoryAddress = Type.String({
  minLength: 1,
  maxLength: 300,
  description: 'The repository as a URL, an scp-style address or `host/owner/name`, without credentials.',
})
const CommitSha = Type.String({
  pattern: COMMIT_SHA,
  description: 'The full SHA of the commit, in lowercase hexadecimal.',
})

/** What the sender of a report or of a gate expects of the run. */
export const ExpectedRun = Closed(
  { repository: Type.Optional(RepositoryAddress), commit_sha: Type.Optional(CommitSha) },
  {
    minProperties: 1,
    description:
      'What the attempt of the run is about, as the sender knows it. If the run differs, the answer is 409 `run_mismatch`, and nothing is stored.',
  },
)
export type ExpectedRun = Static<typeof ExpectedRun>

/** Body of createCiRun. */
export const NewCiRun = Closed({
  ci_system: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$', description: CI_SYSTEM }),
  ci_instance: Type.Optional(CiInstance),
  ci_system_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'The display name of the CI system.' }),
  ),
  external_run_id: Type.String({ pattern: '^[A-Za-z0-9._:\\/-]{1,128}$', description: EXTERNAL_RUN_ID }),
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      description:
        'The number of the attempt. A higher number than the newest adds an attempt to the run. A lower number is 409 `attempt_outdated`. Defaults to 1, or to the attempt of the OIDC token.',
    }),
  ),
  continue: Type.Optional(
    Type.Literal(true, {
      description:
        'For CI systems that retry jobs inside of a run: if the newest attempt of the run has ended, the next one is created (201); if it is open, it is returned (200). Not with `attempt`. A new attempt that nobody finishes has the status of the one before it from its deadline on.',
    }),
  ),
  repository: RepositoryAddress,
  commit_sha: CommitSha,
  ref: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The branch or tag. Send a tag as `refs/tags/<name>`: a name without `refs/` is a branch.',
    }),
  ),
  pipeline_name: Type.String({ minLength: 1, maxLength: 200, description: 'The name of the pipeline or workflow.' }),
  url: Type.Optional(RunUrl),
  status: Type.Optional(
    OneOf(['in_progress', 'queued'], {
      default: 'in_progress',
      description: 'The initial status. To start a queued run, create it again with `in_progress`.',
    }),
  ),
  started_at: Type.Optional({
    ...Timestamp,
    description: 'When the attempt started. Defaults to the time of the request.',
  }),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The user or service that started the attempt. Not used for billing or approvals.',
    }),
  ),
  event: Type.Optional(OneOf(EVENTS, { default: 'other', description: 'The event that started the run.' })),
  timeout_minutes: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 4320,
      default: 360,
      description: 'The number of minutes after which an attempt that has not finished becomes `timed_out`.',
    }),
  ),
})
/** The validated body: fields with a default are always present. */
export type NewCiRun = Static<typeof NewCiRun> &
  Required<Pick<Static<typeof NewCiRun>, 'status' | 'event' | 'timeout_minutes'>>

/** Body of updateCiRun. */
export const CiRunUpdate = Closed({
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999, description: 'The attempt to update. Defaults to the newest attempt.' }),
  ),
  status: Type.Optional(
    OneOf(RUN_STATUSES, {
      description: 'The new status. Every status except `queued` and `in_progress` is final and finishes the attempt.',
    }),
  ),
  completed_at: Type.Optional({
    ...Timestamp,
    description: 'When the attempt finished. Requires a final status. Defaults to the time of the request.',
  }),
  url: Type.Optional(RunUrl),
})
export type CiRunUpdate = Static<typeof CiRunUpdate>

export const RunPath = Closed({ run_id: { ...ItemId, description: 'The id of the run.' } })

const LinkedRepository = Closed(
  {
    provider: Type.String({ description: 'The code host of the repository.' }),
    id: Type.String({ description: 'The id of the repository on the code host.' }),
  },
  {
    description:
      'The linked repository with the same host and name, or the one that the OIDC token names. Null if there is none.',
  },
)

const Credential = Closed(
  {
    type: Type.String({ description: 'The type of the credential: `api_key` or `oidc_trust`.' }),
    name: Type.String({ description: 'The name of the credential.' }),
  },
  { description: 'The credential that created the run. Null for a run of a connected code host.' },
)

/** Response of createCiRun and updateCiRun (specification, "CI run"). */
export const CiRun = Closed(
  {
    id: Type.String({ description: 'The id of the run.' }),
    provider: Type.String({ description: 'The source of the run. `other` for runs created through this API.' }),
    ci_system: Type.String({ description: CI_SYSTEM }),
    ci_instance: Type.Optional(Type.String({ description: `${CI_INSTANCE} Absent if nobody has named it.` })),
    ci_system_name: Nullable(Type.String({ description: 'The display name of the CI system.' })),
    external_run_id: Type.String({ description: EXTERNAL_RUN_ID }),
    attempt: Type.Integer({ minimum: 1, maximum: 999, description: 'The attempt that this object describes.' }),
    repository: Type.String({ description: 'The repository as `host/owner/name`.' }),
    commit_sha: Nullable(
      Type.String({ description: 'The full SHA of the commit. Null if neither the OIDC token nor the body names it.' }),
    ),
    ref: Nullable(Type.String({ description: 'The branch or tag, as sent.' })),
    pipeline_name: Type.String({ description: 'The name of the pipeline or workflow.' }),
    url: Nullable(Type.String({ description: 'The URL of the run in its CI system.' })),
    status: OneOf(RUN_STATUSES, { description: 'The status of the attempt.' }),
    started_at: { ...Timestamp, description: 'When the attempt started.' },
    completed_at: Nullable({ ...Timestamp, description: 'When the attempt finished. Null until then.' }),
    actor: Nullable(Type.String({ description: 'The user or service that started the attempt, as sent.' })),
    event: OneOf(EVENTS, { description: 'The event that started the run.' }),
    deadline_at: Nullable({
      ...Timestamp,
      description:
        'When the attempt becomes `timed_out` unless it has finished. Null for a run of a connected code host.',
    }),
    trust: TrustLevel(
      'The trust level: `verified` if the OIDC token of the run created it or its code host is connected, `untrusted` if code of strangers may have run in that job, else `self_reported`.',
    ),
    linked_repository: Nullable(LinkedRepository),
    stands_beside: Nullable(
      Type.String({
        description:
          'The id of the most trustworthy run with the same CI system and id that credentials of another trust level have reported, or of the run of the connected code host. Neither changes the other. Null if there is none.',
      }),
    ),
    credential: Nullable(Credential),
    conflicts: Type.Optional(
      Type.Array(OneOf(['repository', 'commit_sha'], { description: 'A field of the body.' }), {
        description:
          'The fields of the body that differ from the run that the CI system has under this number. Absent if there are none. What an attempt of its own states is about its own repository and commit.',
      }),
    ),
    app_url: Type.String({ description: 'The URL of the run in the console.' }),
    created_at: { ...Timestamp, description: 'When the run was created.' },
    updated_at: { ...Timestamp, description: 'When the run was last updated.' },
  },
  { $id: 'CiRun', description: 'A CI run with one of its attempts.' },
)
