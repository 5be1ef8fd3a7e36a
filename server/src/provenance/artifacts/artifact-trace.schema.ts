import { Type } from 'typebox'
import { TRUST_CLASSES } from '../../ci/runs/trust.ts'
import { SHA256_PATTERN } from '../../ci/subjects/subject.schema.ts'
import { TRACED_MAX } from '../../ci/subjects/traced-digest.store.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

export const DigestQuery = Closed({
  sha256: Type.String({
    pattern: SHA256_PATTERN,
    description: 'The SHA-256 digest of a file, an image, or the manifest of a platform, in lowercase hexadecimal.',
  }),
})

const text = (description: string) => Type.String({ description })
const time = (description: string) => ({ ...Timestamp, description })
const trust = OneOf(TRUST_CLASSES, {
  description:
    '`verified` from the OIDC token of its run, `untrusted` if code of strangers may have run in that job, else `self_reported`.',
})
const report_id = text('The id of the report.')
const run_id = text('The id of the run.')

const list = <Item extends Parameters<typeof Closed>[0]>(item: Item, description: string) =>
  Type.Array(Closed(item), {
    maxItems: TRACED_MAX,
    description: `${description} At most ${TRACED_MAX}, newest first.`,
  })

export const ArtifactTrace = Closed(
  {
    sha256: text('The digest.'),
    runs: list(
      {
        id: run_id,
        repository: text('The repository, as `host/owner/name`.'),
        commit_sha: Nullable(text('The commit of the run. Null if it is not known.')),
        ref: Nullable(text('The ref of the run. Null if it is not known.')),
        pipeline_name: text('The name of the pipeline.'),
        trust,
        created_at: time('When the run was created.'),
      },
      'The runs that built it.',
    ),
    reports: list(
      {
        id: report_id,
        run_id,
        attempt: Type.Integer({ description: 'The attempt of the run.' }),
        job_name: text('The name of the job.'),
        name: text('What the report calls the digest: the name of the subject, or the path of the artifact.'),
        artifact_id: Nullable(text('The id of the stored file. Null if it was not uploaded.')),
        platform: Nullable(
          text('The platform, if the digest is that of the manifest of one platform of an image. Else null.'),
        ),
        trust,
        created_at: time('When the report was created.'),
      },
      'The reports that name it.',
    ),
    attestations: list(
      {
        id: text('The id of the attestation.'),
        report_id,
        kind: text('The kind of the attestation.'),
        name: text('The name of the attestation.'),
        status: text('The status of the attestation.'),
        trust,
        created_at: time('When the attestation was created.'),
      },
      'The attestations of these reports.',
    ),
    sboms: Type.Optional(
      list(
        {
          id: text('The id of the upload.'),
          repository: text('The name of the repository.'),
          category: Nullable(text('The category of the upload. Null for none.')),
          components: Type.Integer({ description: 'The number of components.' }),
          lane: text('Who sent it: `verified`, `key`, `person` or `untrusted`.'),
          created_at: time('When it was sent.'),
        },
        'The bills of materials about it. Absent without the scope `read:security`.',
      ),
    ),
    deployments: Type.Optional(
      list(
        {
          id: text('The id of the deployment.'),
          repository: text('The repository, as `owner/name`.'),
          environment: text('The environment.'),
          status: text('The status of the deployment.'),
          created_at: time('When the deployment was created.'),
        },
        'The deployments of it. Absent without the scope `read:deployments`.',
      ),
    ),
    statements: Type.Optional(
      list(
        {
          kind: OneOf(['lineage', 'verification'], { description: 'The kind of the statement.' }),
          deployment_id: text('The id of the deployment that the statement is about.'),
          statement_digest: text('The digest of the statement.'),
          issued_at: time('When the statement was issued.'),
        },
        'The signed statements with it as a subject. Absent without the scope `read:attestations`.',
      ),
    ),
  },
  { $id: 'ArtifactTrace', description: 'Everything that is known about a digest.' },
)

export const TraceMeta = Closed(
  {
    omitted: Type.Array(Type.String(), {
      description:
        'The sections that the credential may not read, each with the scope that it needs, such as `sboms (read:security)`.',
    }),
  },
  { description: 'What the response leaves out.' },
)
