import type { Actor } from '../../access/actor.ts'
import type { Scope } from '../../access/scopes.ts'
import {
  listAttestationsOfDigest,
  listReportsOfDigest,
  listRunsOfDigest,
} from '../../ci/subjects/traced-digest.store.ts'
import { listDeploymentsOfDigest } from '../../deployments/deployment-subject.store.ts'
import { listSbomsOfDigest } from '../../inventory/sboms/sbom.store.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Closed } from '../../platform/http/schemas.ts'
import { toObject, toObjects } from '../../platform/json/read-value.ts'
import type { Services } from '../../services.ts'
import { listStatementsOfDeployments } from '../statements/statement.store.ts'
import { ArtifactTrace, DigestQuery, TraceMeta } from './artifact-trace.schema.ts'

export async function registerArtifactRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/artifacts',
    {
      config: { scope: 'read:pipelines', permission: 'view' },
      schema: {
        operationId: 'traceArtifact',
        summary: 'Trace a digest',
        description:
          'Returns every run, report, attestation, bill of materials, deployment and signed statement about a SHA-256 digest: of an ' +
          'uploaded file, of an image that a report names, or of the manifest of one of its platforms. Lists are empty if nothing is known. ' +
          '`meta.omitted` names the sections for which the credential lacks the scope.',
        tags: ['Inventory'],
        querystring: DigestQuery,
        response: {
          200: Closed({ data: ArtifactTrace, meta: TraceMeta }, { description: 'What is known about the digest.' }),
        },
      },
    },
    async ({ actor, query }) => traceArtifact(services, actor, query.sha256),
  )
}

/** The sections that need a scope of their own. */
const SECTION_SCOPES = {
  sboms: 'read:security',
  deployments: 'read:deployments',
  statements: 'read:attestations',
} as const satisfies Record<string, Scope>

async function traceArtifact({ reads }: Services, actor: Actor, sha256: string) {
  const { org_id } = actor
  const asked = { org_id, sha256 }
  const has = (section: keyof typeof SECTION_SCOPES) =>
    actor.credential.type === 'user' || actor.credential.scopes.includes(SECTION_SCOPES[section])
  const data = await reads.read(async (sql) => {
    const reports = await listReportsOfDigest(sql, asked)
    const runIds = [...new Set(reports.map(({ run_id }) => run_id))]
    const reportIds = [...new Set(reports.map(({ id }) => id))]
    const needsDeployments = has('deployments') || has('statements')
    const deployments = needsDeployments ? await listDeploymentsOfDigest(sql, asked, runIds) : []
    const ids = deployments.map(({ id }) => id)
    return {
      sha256,
      runs: await listRunsOfDigest(sql, org_id, runIds),
      reports,
      attestations: await listAttestationsOfDigest(sql, org_id, reportIds),
      ...(has('sboms') && { sboms: await listSbomsOfDigest(sql, asked) }),
      ...(has('deployments') && { deployments }),
      ...(has('statements') && {
        statements: (await listStatementsOfDeployments(sql, org_id, ids)).flatMap(({ envelope, ...issued }) =>
          hasSubject(envelope, sha256) ? issued : [],
        ),
      }),
    }
  })
  const omitted = Object.entries(SECTION_SCOPES).flatMap(([section, scope]) =>
    has(section as keyof typeof SECTION_SCOPES) ? [] : `${section} (${scope})`,
  )
  return { data, meta: { omitted } }
}

/** Whether a DSSE envelope states something about a digest. */
function hasSubject(envelope: string, sha256: string): boolean {
  const { payload } = JSON.parse(envelope) as { payload: string }
  const statement = toObject(JSON.parse(Buffer.from(payload, 'base64').toString()))
  return toObjects(statement?.subject).some(({ digest }) => toObject(digest)?.sha256 === sha256)
}
