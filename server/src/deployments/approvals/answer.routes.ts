import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { ItemPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { normalizeMissingBody } from '../../platform/http/json-body.ts'
import { ForbiddenResponse } from '../../platform/http/openapi.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { DeploymentPath } from '../deployment.schema.ts'
import { Approved, DeploymentDecision, NewAnswer, Rejected } from './answer.schema.ts'
import { answerDeployment } from './answer-deployment.ts'
import { describeDecision } from './describe-decision.ts'

export async function answerRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    '/v1/deployments/:id/approve',
    {
      config: {
        scope: 'write:deployments',
        permission: ['answer_deployment_gates', 'override_compliance'],
        fresh: true,
        updates: ({ params }) => [update('deployment', params.id)],
      },
      preValidation: normalizeMissingBody,
      schema: {
        operationId: 'approveDeployment',
        summary: 'Approve a deployment',
        description:
          "Approves the service's own protection rule, as an API key or as a person. Reviewers that the code host requires " +
          'must still approve there. If a policy blocks the deployment, the approval is recorded as an override: a key then ' +
          'also needs the scope `write:compliance-override`. People need the permissions `answer_deployment_gates` and ' +
          '`override_compliance`: one person both, or several together, and until then the status stays. A key must send a reason. A person must send one for an override.\n\n' +
          'Errors: 400 `reason_required` if the reason is missing or does not have 10 to 500 characters. 403 ' +
          '`insufficient_scope` if a policy blocks the deployment, `forbidden` for a key that is limited to other repositories. 409 `already_decided` if the deployment is decided, or ' +
          'the key or the person has answered it; the keys that a person created count as the person. 409 `not_gated` if ' +
          'it has no protection rules, `not_asked` if it waits on the code host and this rule was not asked, `reviewer_gate_requires_human` if only people, or only reviewers on the code ' +
          'host, can answer, `gate_not_configured` if no configured gate covers the deployment and a key answers, ' +
          '`run_creator_refused` if the key or the person opened the deployment or started its run and the gate does not ' +
          'accept that, or if a key with the scope `write:ci` answers an opened gate, `change_author_refused` if the person loosened a gate or changed a policy, `linked_account_required` if the gate ' +
          'requires a linked account that the person does not have, `run_finished` if the run has ended without success.',
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Approved, 'The approval was recorded.'), 403: ForbiddenResponse },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, { ...body, decision: 'approved' })
      return { data: { approved: true as const, status } }
    },
  )

  app.post(
    '/v1/deployments/:id/reject',
    {
      config: {
        scope: 'write:deployments',
        permission: 'answer_deployment_gates',
        fresh: true,
        updates: ({ params }) => [update('deployment', params.id)],
      },
      preValidation: normalizeMissingBody,
      schema: {
        operationId: 'rejectDeployment',
        summary: 'Reject a deployment',
        description:
          "Rejects the service's own protection rule, as an API key or as a person. A single rejection ends the deployment. A key " +
          'must send a reason.\n\nErrors: 400 `reason_required` if the reason is missing or does not have 10 to 500 ' +
          'characters. 403 `forbidden` for a key that is limited to other repositories. 409 `already_decided` if the deployment is decided, or the key or the person has answered it, ' +
          '`not_gated` if it has no protection rules, `not_asked` if it waits on the code host and this rule was not asked, `reviewer_gate_requires_human` if only people, or only ' +
          'reviewers on the code host, can answer, `gate_not_configured` if no configured gate covers the deployment and ' +
          'a key answers, `run_creator_refused` if the gate does not accept the key, or the key has the scope `write:ci`, `run_finished` ' +
          'if the run has ended without success.',
        tags: ['Deployments'],
        params: DeploymentPath,
        body: NewAnswer,
        response: { 200: Envelope(Rejected, 'The rejection was recorded.'), 403: ForbiddenResponse },
      },
    },
    async ({ actor, params, body }) => {
      const status = await answerDeployment(services, actor, params.id, { ...body, decision: 'rejected' })
      return { data: { rejected: true as const, status } }
    },
  )
}

export async function registerDeploymentDecisionRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/deployments/:id/decision`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getDeploymentDecision',
        summary: 'Get what decides a deployment',
        description:
          'Returns the gates of a deployment, the rules of its policies with their evidence, what policies and Shiplock did, ' +
          'and whether you can answer the deployment.',
        tags: ['Deployments'],
        params: ItemPath,
        response: { 200: Envelope(DeploymentDecision, 'What decides the deployment.') },
      },
    },
    async ({ actor, params }) => ({ data: await describeDecision(services, actor, params.id) }),
  )
}
