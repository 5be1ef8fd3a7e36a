import { type Static, Type } from 'typebox'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

const ENVIRONMENT_CHARS_MAX = 100

/** Body of openCiGate. */
export const NewGate = Closed({
  run_id: ItemId,
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 999, default: 1 })),
  environment: Type.String({ minLength: 1, maxLength: ENVIRONMENT_CHARS_MAX }),
  gate_id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._:-]{1,128}$',
      description: 'A configured gate that has to cover this. All others that cover it are asked as well.',
    }),
  ),
  job: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,100}$',
      description: 'Separates gates of two jobs that deploy to one environment.',
    }),
  ),
})
/** As validated: the attempt has its default. */
export type NewGate = Static<typeof NewGate> & { attempt: number }

export const GatePath = Closed({
  gate_id: Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }),
})

/** The one header that a poll may carry besides its token. */
export const PollHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description: '`wait=20` (RFC 7240): answer when the gate is decided, at most 20 seconds later.',
    }),
  ),
})

const gateFields = {
  gate_id: Type.String(),
  deployment_id: Type.String(),
  environment: Type.String(),
  gate: Closed({ id: Type.String(), name: Type.String() }),
  decision: OneOf(['pending', 'approved', 'rejected'], { description: 'Deploy only when this is `approved`.' }),
  status: OneOf(['waiting', 'decided', 'expired', 'cancelled']),
  decided_by: Nullable(Type.String()),
  note: Nullable(Type.String()),
  url: Type.String(),
  poll_after_seconds: Type.Integer({ description: 'Wait as long before the next poll.' }),
}

/** What polling returns (specification, "Deployment gate"). */
export const DeploymentGate = Closed(gateFields, { $id: 'DeploymentGate' })
export type DeploymentGate = Static<typeof DeploymentGate>

/** What opening returns: the gate, and the token that reads it. */
export const OpenedGate = Closed(
  {
    ...gateFields,
    poll_token: Type.String({ description: 'Reads this gate and nothing else, as a bearer token.' }),
    expires_at: Timestamp,
  },
  { $id: 'OpenedGate' },
)
export type OpenedGate = Static<typeof OpenedGate>
