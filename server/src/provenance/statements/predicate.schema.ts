import { Type } from 'typebox'
import { ARTIFACT_LANE, CommitRun, RunArtifact, StatedSubject } from '../../ci/evidence/commit-evidence.schema.ts'
import { PromotionStep } from '../../deployments/promotion.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { ChainBreak, ChainPosition } from '../changes/change.schema.ts'
import {
  AmendmentKind,
  amendment,
  ChangeRecordSchema,
  Deviations,
  defineSha,
  LandedBy,
  RecordPullRequest,
  RecordPusher,
  review,
} from '../changes/change-record.schema.ts'
import { PROMOTION_PATH } from './promotion-path.ts'
import { CHANGE_RECORD } from './statement-content.ts'

const JSON_SCHEMA = { $schema: 'https://json-schema.org/draft/2020-12/schema' }

const Breaks = Type.Array(ChainBreak, {
  minItems: 1,
  description: "The links of the repository's chain that did not verify. Absent if all did.",
})

/** The predicate of a change statement. */
const ChangeRecordPredicate = {
  ...JSON_SCHEMA,
  ...Closed(
    {
      record: ChangeRecordSchema,
      amendments: Type.Array(Closed({ ...amendment, chain: ChainPosition }), {
        description: 'Facts that arrived after the record was written, in the order of the chain.',
      }),
      chain: { ...ChainPosition, description: 'The link of the record.' },
      breaks: Type.Optional(Breaks),
    },
    { $id: CHANGE_RECORD, description: 'A change that landed on the tracked branch of a repository.' },
  ),
}

const Change = Closed(
  {
    id: Type.String({ description: 'The id of the change.' }),
    record: Nullable(
      Closed(
        {
          branch: Type.String({ description: 'The tracked branch.' }),
          landed_by: LandedBy,
          landed_at: { ...Timestamp, description: 'When the change landed.' },
          merge_sha: Type.String({ description: 'The commit on the branch that the change ends with.' }),
          pull_request: Nullable(RecordPullRequest, { description: 'The pull request. Null for a push.' }),
          pusher: RecordPusher,
          reviews: Type.Array(Closed(review), { description: 'The reviews of the pull request.' }),
          deviations: Deviations,
        },
        {
          description:
            'The part of the record that says who approved. Null if the chain does not verify, or data retention has ' +
            'removed the record.',
        },
      ),
    ),
    amendments: Type.Array(
      Closed({
        kind: AmendmentKind,
        at: { ...Timestamp, description: 'When the amendment was appended.' },
        chain: ChainPosition,
      }),
      { description: 'The late facts of the change, in the order of the chain. The change statement states them.' },
    ),
    chain: Nullable({ ...ChainPosition, description: 'The link of the record. Null if `record` is.' }),
    breaks: Type.Optional(Breaks),
  },
  { description: 'The change that the commit landed with. Null if no change record has the commit.' },
)

const StatedArtifact = Closed(
  { ...RunArtifact.properties, ...ARTIFACT_LANE },
  { description: 'A file that the jobs of the run have uploaded.' },
)

const Omitted = (what: string) =>
  Type.Integer({ minimum: 0, description: `How many ${what} are left out because there are too many.` })

/** The predicate of a lineage statement. */
const PromotionPathPredicate = {
  ...JSON_SCHEMA,
  ...Closed(
    {
      repository: Closed(
        {
          provider: Nullable(Type.String({ description: 'The code host. `other` for a self-reported deployment.' })),
          host: Type.String({ description: 'The host name.' }),
          id: Nullable(Type.String({ description: 'The id on the code host. Null for a self-reported deployment.' })),
          full_name: Type.String({ description: 'The name as `owner/name`.' }),
        },
        { description: 'The repository of the commit.' },
      ),
      commit: defineSha('The SHA of the commit.'),
      commit_trust: Type.Optional({
        ...ARTIFACT_LANE.trust,
        description: 'Who named the commit. It is a subject only if it is `verified`, or if there is no other.',
      }),
      decided_at: Type.Optional({
        ...Timestamp,
        description:
          'When the deployment was decided. Subjects are the newest verified artifacts that were complete then. ' +
          'Absent in statements of earlier versions, whose subjects are all artifacts.',
      }),
      change: Nullable(Change),
      runs: Type.Array(CommitRun, { description: 'The pipeline runs of the commit, oldest first.' }),
      runs_omitted: Omitted('runs'),
      artifacts: Type.Array(StatedArtifact, {
        description: "The artifacts of the deployment's run that were complete when it was decided, by path.",
      }),
      artifacts_omitted: Omitted('artifacts'),
      subjects: Type.Optional(
        Type.Array(StatedSubject, {
          description:
            'What the reports of the run and the gate named by digest before the deployment was decided, by source and name. Absent if nothing was.',
        }),
      ),
      amendments: Type.Optional(
        Type.Array(
          Closed({
            kind: OneOf(['artifact', 'subject'], { description: 'What was added.' }),
            at: { ...Timestamp, description: 'When it was added.' },
            artifact: Type.Optional(StatedArtifact),
            subject: Type.Optional(StatedSubject),
          }),
          { description: 'What was added after the deployment was decided.' },
        ),
      ),
      earlier_deployments: Type.Array(PromotionStep, {
        description: 'The deployments of the commit before this one, to any environment, oldest first.',
      }),
      earlier_deployments_omitted: Omitted('earlier deployments'),
      deployment: { ...PromotionStep, description: 'The deployment that the statement is about.' },
    },
    { $id: PROMOTION_PATH, description: 'How a commit came to an environment, and who approved it at each step.' },
  ),
}

/** The published predicates with their files in docs/provenance/. */
export const PUBLISHED_PREDICATES = [
  { file: 'change-record.v1.schema.json', schema: ChangeRecordPredicate },
  { file: 'promotion-path.v1.schema.json', schema: PromotionPathPredicate },
]
