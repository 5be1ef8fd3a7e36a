import type { Actor } from '../../access/actor.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { ChangePath } from '../changes/change.schema.ts'
import { readLogProof } from '../log/read-log-proof.ts'
import { issueChangeStatement } from './change-statement.ts'
import { issueLineageStatement } from './lineage-statement.ts'
import { listPublicKeys } from './rotate-key.ts'
import {
  DeploymentPath,
  defineStatementErrors,
  SignedStatement,
  SigningKeys,
  StatementQuery,
} from './statement.schema.ts'
import { type StoredStatement, toSigstoreBundle } from './statement-content.ts'
import { issueVerificationStatement } from './verification-statement.ts'

type StatementRoute = {
  url: string
  operationId: string
  summary: string
  description: string
  params: typeof ChangePath | typeof DeploymentPath
  errors: ReturnType<typeof defineStatementErrors>
  issue: (services: Services, actor: Actor, id: string) => Promise<StoredStatement>
}

const STATEMENTS: StatementRoute[] = [
  {
    url: '/v1/provenance/changes/:id/statement',
    operationId: 'getChangeStatement',
    summary: 'Get the statement of a change',
    description:
      'Returns the record of a change and its amendments as a signed in-toto statement with the predicate type ' +
      '`https://shiplock.dev/change-record/v1`. Its subject is the commit that the change landed with.',
    params: ChangePath,
    errors: defineStatementErrors(
      'change',
      ['NO_CHANGE'],
      ['NOT_LANDED', 'NO_COMMIT', 'RECORD_EXPIRED', 'CHAIN_BROKEN'],
    ),
    issue: issueChangeStatement,
  },
  {
    url: '/v1/provenance/deployments/:id/lineage/statement',
    operationId: 'getLineageStatement',
    summary: 'Get the lineage statement of a deployment',
    description:
      'Returns the path of a commit from its change to a deployment as a signed in-toto statement with the predicate ' +
      'type `https://shiplock.dev/promotion-path/v1`: the runs, their artifacts, the earlier environments, and who ' +
      'approved. Its subjects are the commit and the artifacts of the run.',
    params: DeploymentPath,
    errors: defineStatementErrors('deployment', [], ['NO_COMMIT', 'LINEAGE_NOT_READY']),
    issue: issueLineageStatement,
  },
  {
    url: '/v1/provenance/deployments/:id/verification',
    operationId: 'getVerificationStatement',
    summary: 'Get the verification summary of a deployment',
    description:
      'Returns the result of the policies and gates of a deployment as a signed SLSA verification summary, an in-toto ' +
      'statement with the predicate type `https://slsa.dev/verification_summary/v1`.',
    params: DeploymentPath,
    errors: defineStatementErrors(
      'deployment',
      ['NOT_PROTECTED', 'NO_CHANGE'],
      ['NO_COMMIT', 'NOT_DEPLOYED', 'RECORD_EXPIRED', 'CHAIN_BROKEN'],
    ),
    issue: issueVerificationStatement,
  },
]

/** What all statements have in common (provenance.md §3). */
const COMMON =
  'The envelope is a DSSE envelope. A statement is stored when it is first issued: as long as the facts that it ' +
  'states are the same, the response contains the same bytes and the same signature, also after the signing key was ' +
  'rotated.\n\nRequires a plan with the feature `signed_statements`. For an unknown id the status is 404 on every plan.'

export async function registerStatementRoutes(app: HttpServer, services: Services): Promise<void> {
  for (const { url, params, errors, issue, description, ...described } of STATEMENTS) {
    app.get(
      url,
      {
        config: { scope: 'read:attestations', permission: 'view' },
        schema: {
          ...described,
          description: `${description}\n\n${COMMON}`,
          tags: ['Provenance'],
          params,
          querystring: StatementQuery,
          response: { 200: Envelope(SignedStatement, 'The signed statement.'), ...errors },
        },
      },
      async (request, reply) => {
        const { bundle, checkpoint_size } = request.query
        if (checkpoint_size !== undefined && !bundle)
          throw createInvalidFieldError('/query/checkpoint_size', 'requires bundle=true')
        const statement = await issue(services, request.actor, request.params.id)
        return sendData(reply, await formatResponse(services, statement, request.query))
      },
    )
  }
}

/** JSON text. The stored envelope is passed through as it is. */
async function formatResponse(
  services: Services,
  statement: StoredStatement,
  { bundle, checkpoint_size }: StatementQuery,
): Promise<string> {
  const { envelope, statement_digest } = statement
  const signed = `"envelope":${envelope},"statement_digest":"${statement_digest}"`
  if (!bundle) return `{${signed}}`
  const sha256 = Buffer.from(statement_digest.slice('sha256:'.length), 'hex')
  const log = await readLogProof(services, { kind: 'statement', sha256 }, checkpoint_size)
  const added = { bundle: toSigstoreBundle(JSON.parse(envelope)), unsigned: { log } }
  return `{${signed},${JSON.stringify(added).slice(1)}`
}

export async function registerSigningKeyRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/provenance/keys',
    {
      config: { scope: 'read:attestations', permission: 'view' },
      schema: {
        operationId: 'listSigningKeys',
        summary: 'List signing keys',
        description:
          'Returns the public keys that verify the signed statements of the organization. The first key is made when the ' +
          'keys are first read or a statement is first signed.',
        tags: ['Provenance'],
        response: { 200: Envelope(SigningKeys, 'The public keys.') },
      },
    },
    async (request) => ({ data: { keys: await listPublicKeys(services, request.actor.org_id) } }),
  )
}
