import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'

const ENVIRONMENT_CHARS_MAX = 100

/** Body of openCiGate. */
export const NewGate = Closed({
  run_id: Type.String({ ...ItemId, description: 'Run that deploys.' }),
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999, default: 1, description: 'Attempt of the run that deploys.' }),
  ),
  environment: Type.String({
    minLength: 1,
    maxLength: ENVIRONMENT_CHARS_MAX,
    description: 'Environment to deploy to.',
  }),
  gate_id: Type.Optional(
    Type.String({
      ...ItemId,
      description:
        'Id of a configured gate that must cover the environment. All other gates that cover it must approve, too.',
    }),
  ),
  job: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,100}$',
      description: 'Separates the gates of two jobs that deploy to the same environment.',
    }),
  ),
})
/** The validated body, in which `attempt` has its default. */
export type NewGate = Static<typeof NewGate> & { attempt: number }

export const GatePath = Closed({
  gate_id: Type.String({
    pattern: UUID_PATTERN,
    description: 'The `gate_id` that opening the gate returned.',
  }),
})

/** Headers of a poll, besides the token. */
export const PollHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description: '`wait=N` (RFC 7240): respond as soon as the gate is decided, or after N seconds. N is at most 20.',
    }),
  ),
})

const gateFields = {
  gate_id: Type.String({ description: 'Id of the opened gate.' }),
  deployment_id: Type.String({ description: 'Deployment that the gate was opened for.' }),
  environment: Type.String({ description: 'Environment to deploy to.' }),
  gate: Closed(
    { id: Type.String(), name: Type.String() },
    { description: 'The first configured gate that has not approved yet; the first one when all have approved.' },
  ),
  decision: OneOf(['pending', 'approved', 'rejected'], { description: 'Deploy only if this is `approved`.' }),
  status: OneOf(['waiting', 'decided', 'expired', 'cancelled'], {
    description:
      '`expired` after 12 hours without a decision; `cancelled` if the run ended without success or was superseded.',
  }),
  decided_by: Nullable(
    Type.String({
      description: 'Who decided, for example `api_key:<name>`, `policy`, `run` or `expiry`; null while waiting.',
    }),
  ),
  note: Nullable(Type.String({ description: 'Reason for the decision, or why policies block the deployment.' })),
  url: Type.String({ description: 'Page of the deployment in the console.' }),
  poll_after_seconds: Type.Integer({ description: 'Seconds to wait before the next poll.' }),
}

/** Response of getCiGate (specification, "Deployment gate"). */
export const DeploymentGate = Closed(gateFields, { $id: 'DeploymentGate' })
export type DeploymentGate = Static<typeof DeploymentGate>

/** Response of openCiGate. */
export const OpenedGate = Closed(
  {
    ...gateFields,
    poll_token: Type.String({ description: 'Bearer token that polls this gate. It gives no other access.' }),
    expires_at: Type.String({ ...Timestamp, description: 'When the poll token expires.' }),
  },
  { $id: 'OpenedGate' },
)
export type OpenedGate = Static<typeof OpenedGate>
