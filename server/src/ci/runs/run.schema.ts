import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from './run-status.ts'

const EVENTS = ['push', 'pull_request', 'tag', 'schedule', 'manual', 'other'] as const
const Attempt = Type.Integer({ minimum: 1, maximum: 999 })
const WebAddress = Type.String({ maxLength: 2048, pattern: '^https?://', description: 'An http or https address.' })

/** Body of createCiRun. */
export const NewCiRun = Closed({
  ci_system: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  ci_system_name: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  external_run_id: Type.String({ pattern: '^[A-Za-z0-9._:\\/-]{1,128}$' }),
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 999, default: 1 })),
  repository: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'URL, scp-style address or host/owner/name. Credentials inside a URL are refused.',
  }),
  commit_sha: Type.String({ pattern: '^(?:[0-9a-f]{40}|[0-9a-f]{64})$' }),
  ref: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Branch or tag.' })),
  pipeline_name: Type.String({ minLength: 1, maxLength: 200 }),
  url: Type.Optional(WebAddress),
  status: Type.Optional(OneOf(['in_progress', 'queued'], { default: 'in_progress' })),
  started_at: Type.Optional(Timestamp),
  actor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Never used for billing or approvals.' }),
  ),
  event: Type.Optional(OneOf(EVENTS, { default: 'other' })),
  timeout_minutes: Type.Optional(Type.Integer({ minimum: 5, maximum: 4320, default: 360 })),
})
/** As validated: the fields with a default are there. */
export type NewCiRun = Static<typeof NewCiRun> &
  Required<Pick<Static<typeof NewCiRun>, 'attempt' | 'status' | 'event' | 'timeout_minutes'>>

/** Body of updateCiRun. */
export const CiRunUpdate = Closed({
  attempt: Type.Optional(Attempt),
  status: Type.Optional(OneOf(RUN_STATUSES)),
  completed_at: Type.Optional(Timestamp),
  url: Type.Optional(WebAddress),
})
export type CiRunUpdate = Static<typeof CiRunUpdate>

export const RunPath = Closed({ run_id: ItemId })

/** What POST and PATCH return (specification, "CI run"). */
export const CiRun = Closed(
  {
    id: Type.String(),
    provider: Type.String(),
    ci_system: Type.String(),
    ci_system_name: Nullable(Type.String()),
    external_run_id: Type.String(),
    attempt: Attempt,
    repository: Type.String(),
    commit_sha: Type.String(),
    ref: Nullable(Type.String()),
    pipeline_name: Type.String(),
    url: Nullable(Type.String()),
    status: OneOf(RUN_STATUSES),
    started_at: Timestamp,
    completed_at: Nullable(Timestamp),
    actor: Nullable(Type.String()),
    event: OneOf(EVENTS),
    deadline_at: Timestamp,
    trust: Type.String(),
    linked_repository: Nullable(Closed({ provider: Type.String(), id: Type.String() })),
    credential: Closed({ type: Type.String(), name: Type.String() }),
    app_url: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'CiRun' },
)
