import { type Static, Type } from 'typebox'
import { SCOPES } from '../../ci/evidence/evidence-scope.ts'
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts'

const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ minimum: 0, description })

const Piece = Closed(
  {
    run_id: Text('The id of the run.'),
    attempt: Count('The attempt of the run.'),
    pipeline: Text('The name of the pipeline or workflow.'),
    job: Text('The name of the job.'),
    report_id: Text('The id of the report.'),
    kind: Text('The kind of the attestation, such as `test-results`.'),
    name: Text('The name of the attestation.'),
    status: Text('The status of the attestation: `pass`, `fail`, `warn` or `info`.'),
    trust: Text('The trust level, as in the policy input. Each rule looks at those that it accepts.'),
  },
  { description: 'An attestation.' },
)

/** The evidence that policies of one scope were asked with. */
export const AskedEvidence = Closed(
  {
    scope: OneOf(SCOPES, {
      description: 'The scope of the policies: the `commit`, the deploying `run`, or its `attempt`.',
    }),
    pieces: Type.Array(Piece, { description: 'The attestations, at most 100, failed ones first.' }),
    omitted: Count('The number of further attestations.'),
    notes: Type.Array(Type.String(), {
      description: 'Why older reports of a job count beside newer ones, and what would tell them apart.',
    }),
  },
  { description: 'The evidence that the policies of one scope were asked with.' },
)
export type AskedEvidence = Static<typeof AskedEvidence>

export const AskedEvidenceList = Nullable(
  Type.Array(AskedEvidence, {
    description: 'The reports of CI jobs that the policies were asked with, by scope. Null if they were not stored.',
  }),
)
