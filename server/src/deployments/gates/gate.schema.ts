import { type Static, Type } from 'typebox'
import { JobInstance } from '../../ci/reports/report.schema.ts'
import { ExpectedRun } from '../../ci/runs/run.schema.ts'
import { Subjects } from '../../ci/subjects/subject.schema.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'

const ENVIRONMENT_CHARS_MAX = 100

/** Body of openCiGate. */
export const NewGate = Closed({
  run_id: Type.String({ ...ItemId, description: 'The id of the run that deploys.' }),
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      description:
        'The attempt of the run that deploys. Defaults to 1. If the body has `expect` or `job_instance`, it defaults to the newest attempt, or to that of the OIDC token.',
    }),
  ),
  expect: Type.Optional(ExpectedRun),
  environment: Type.String({
    minLength: 1,
    maxLength: ENVIRONMENT_CHARS_MAX,
    description: 'The environment to deploy to.',
  }),
  gate_id: Type.Optional(
    Type.String({
      ...ItemId,
      description:
        'The id of a configured gate that must cover the environment. All other gates that cover it must also approve.',
    }),
  ),
  job: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,100}$',
      description: 'The job that deploys. It separates the gates of two jobs that deploy to the same environment.',
    }),
  ),
  job_instance: Type.Optional(
    JobInstance('The id of the execution of the job that deploys, which must be that of the OIDC token of the run.'),
  ),
  timeout_minutes: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 720,
      description:
        'How long the gate waits for a decision, in minutes. Defaults to 720. It counts when the gate is opened: opening the gate again does not change it.',
    }),
  ),
  subjects: Type.Optional(
    Subjects(
      'What will be deployed, by digest. Each must be a subject or completed artifact of a run. Defaults to what the reports of the run name. Fixed when the gate is opened.',
    ),
  ),
})
export type NewGate = Static<typeof NewGate>

export const GatePath = Closed({
  gate_id: Type.String({
    pattern: UUID_PATTERN,
    description: 'The id of the opened gate, as returned by openCiGate.',
  }),
})

/** Headers of a poll, besides the token. */
export const PollHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({
      description:
        '`wait=N` (RFC 7240): send the response as soon as the gate is decided, or after N seconds, at most 20.',
    }),
  ),
})

const gateFields = {
  gate_id: Type.String({ description: 'The id of the opened gate.' }),
  deployment_id: Type.String({ description: 'The id of the deployment that the gate was opened for.' }),
  environment: Type.String({ description: 'The environment to deploy to.' }),
  gate: Closed(
    {
      id: Type.String({ description: 'The id of the configured gate.' }),
      name: Type.String({ description: 'The name of the configured gate.' }),
    },
    { description: 'The first configured gate that has not approved yet, or the first one if all have approved.' },
  ),
  decision: OneOf(['pending', 'approved', 'rejected'], {
    description: 'The decision. Deploy only if it is `approved`.',
  }),
  status: OneOf(['waiting', 'decided', 'expired', 'cancelled'], {
    description:
      '`waiting` until the gate is decided. `expired` after 12 hours, or after `timeout_minutes`, without a decision. `cancelled` if somebody stated that the run ended without success, if the deployment was cancelled, or if a higher attempt superseded it. An approval that no client has read is `waiting` again if the policies do not approve any more.',
  }),
  decided_by: Nullable(
    Type.String({
      description:
        'Who decided: for example `api_key:<name>`, `policy`, `run` or `expiry`. Null while the gate is waiting.',
    }),
  ),
  note: Nullable(
    Type.String({
      description: 'The reason for the decision. While the gate is waiting, the policy rules that block it.',
    }),
  ),
  url: Type.String({ description: 'The URL of the deployment in the console.' }),
  poll_after_seconds: Type.Integer({ description: 'The number of seconds to wait before the next poll.' }),
  supersedes: Type.Optional(
    Type.String({
      description:
        'The id of the gate of the same run, attempt, environment and job that this one takes the place of. Absent if there is none.',
    }),
  ),
  superseded_by: Type.Optional(
    Type.String({
      description: 'The id of the gate that was opened in the place of this one. Absent if there is none.',
    }),
  ),
}

/** Response of getCiGate (specification, "Deployment gate"). */
export const DeploymentGate = Closed(gateFields, { $id: 'DeploymentGate', description: 'An opened deployment gate.' })
export type DeploymentGate = Static<typeof DeploymentGate>

/** Response of openCiGate. */
export const OpenedGate = Closed(
  {
    ...gateFields,
    poll_token: Type.String({ description: 'The bearer token that polls this gate. It gives no other access.' }),
    expires_at: Type.String({ ...Timestamp, description: 'When the poll token expires.' }),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'What the client should check: `attempt_outdated` if the run has a higher attempt and the body names none. Absent if there is nothing.',
      }),
    ),
  },
  { $id: 'OpenedGate', description: 'An opened deployment gate with its poll token.' },
)
export type OpenedGate = Static<typeof OpenedGate>
