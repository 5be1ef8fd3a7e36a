import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'
import { TRUST_CLASSES } from '../runs/trust.ts'

const Attempt = Closed({
  number: Type.Integer({ minimum: 1, description: 'The number of the attempt.' }),
  status: OneOf(RUN_STATUSES, { description: 'The status of the attempt.' }),
  actor: Nullable(Type.String({ description: 'The account that started the attempt.' })),
  started_at: { ...Timestamp, description: 'When the attempt started.' },
  completed_at: Nullable({ ...Timestamp, description: 'When the attempt finished. Null until then.' }),
})

export const CommitRun = Closed(
  {
    id: Type.String({ description: 'The id of the run.' }),
    trust: OneOf(['self_reported', 'verified', 'untrusted'], {
      description:
        '`verified` by the code host or by the OIDC token of the run, `untrusted` if code of strangers may have run in that job, or `self_reported` through the API.',
    }),
    provider: Type.String({ description: 'The source of the run. `other` for runs created through the API.' }),
    ci_system: Nullable(Type.String({ description: 'The CI system. Null for a run of a code host.' })),
    pipeline_name: Type.String({ description: 'The name of the pipeline or workflow.' }),
    event: Type.String({ description: 'The event that started the run, such as `push`.' }),
    ref: Nullable(Type.String({ description: 'The branch or tag, as sent.' })),
    created_at: { ...Timestamp, description: 'When the run was created.' },
    attempts: Type.Array(Attempt, { description: 'The known attempts, in the order of their numbers.' }),
  },
  { description: 'A pipeline run of the commit.' },
)
export type CommitRun = Static<typeof CommitRun>

export const RunArtifact = Closed(
  {
    path: Type.String({ description: 'The path of the artifact within its report.' }),
    size: Type.Integer({ minimum: 0, description: 'The size of the file in bytes.' }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'The SHA-256 checksum of the file in lowercase hexadecimal. It was verified after the upload.',
    }),
    attempt: Type.Integer({ minimum: 1, description: 'The attempt of the run that reported the artifact.' }),
    created_at: { ...Timestamp, description: 'When the artifact was reported.' },
  },
  { description: 'A file that the jobs of the run have uploaded.' },
)
export type RunArtifact = Static<typeof RunArtifact>

/** What a report or a gate names by digest. */
export const StatedSubject = Closed(
  {
    name: Type.String({ description: 'What the digest is of, such as the repository of an image.' }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The SHA-256 digest in lowercase hexadecimal.' }),
    source: OneOf(['report', 'gate'], {
      description: 'Whether a report of the run names it, or the gate was opened with it.',
    }),
    attempt: Nullable(
      Type.Integer({ minimum: 1, description: 'The attempt of the run that reported it. Null for a gate.' }),
    ),
    trust: OneOf(TRUST_CLASSES, {
      description: 'Who stated it, as the `trust` of runs. For a gate, who reported the digest.',
    }),
    stated_at: { ...Timestamp, description: 'When it was stated.' },
  },
  { description: 'What was built or deployed, by digest.' },
)
export type StatedSubject = Static<typeof StatedSubject>

/** From which lane an artifact is, and since when it is complete. */
export const ARTIFACT_LANE = {
  trust: OneOf(TRUST_CLASSES, { description: 'Who stated the artifact, as the `trust` of runs.' }),
  completed_at: { ...Timestamp, description: 'When the artifact was complete.' },
}
const ArtifactLane = Closed(ARTIFACT_LANE)
export type ArtifactLane = Static<typeof ArtifactLane>
