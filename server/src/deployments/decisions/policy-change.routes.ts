import { toAuthor } from '../../access/actor.ts'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { DeletionQuery, ItemPath, OrganizationPath } from '../../access/gateway/open-to-people.ts'
import { applyPolicy, removePolicy } from '../../compliance/policies/apply-policy.ts'
import { PolicyApplication, PolicyText, PolicyTrial } from '../../compliance/policies/policy-request.schema.ts'
import { AppliedPolicy, RemovedPolicy, ValidatedPolicy } from '../../compliance/policies/policy-response.schema.ts'
import { readPolicyText, validatePolicyText } from '../../compliance/policy-file/policy.parser.ts'
import { isChangedByTwo } from '../../organizations/organization.store.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { listGatesOfPolicy } from '../gates/configured-gate.store.ts'
import { PendingChange } from '../gates/pending-change.schema.ts'
import { createPendingChange, toPolicyChange, toPolicyDeletion } from '../gates/pending-change.ts'
import { DryRun } from './policy-trial.schema.ts'
import { runPolicyTrial } from './try-policy.ts'

const PATH = `${ORGANIZATION_PATH}/policies`
const config = { permission: 'manage_policies' } as const
const tags = ['Policies']
const WAITS = Envelope(PendingChange, 'The change waits for a second person (`two_person_changes`).')

/** The routes that check, try, apply and remove policies. */
export async function registerPolicyChangeRoutes(app: HttpServer, services: Services): Promise<void> {
  app.post(
    `${PATH}/validate`,
    {
      config: { ...config, updates: 'none' },
      schema: {
        operationId: 'validatePolicy',
        summary: 'Validate a policy file',
        description:
          'Checks a policy file and returns every mistake with its position, or the content of the file with all defaults. ' +
          'Changes nothing. Files with `engine: wasm` need a bundle and are applied at the command line.',
        tags,
        params: OrganizationPath,
        body: PolicyText,
        response: { 200: Envelope(ValidatedPolicy, 'The mistakes, or the content.') },
      },
    },
    async ({ body }) => ({ data: validatePolicyText(body.file) }),
  )

  app.post(
    `${PATH}/dry-run`,
    {
      config: { ...config, updates: 'none' },
      schema: {
        operationId: 'dryRunPolicy',
        summary: 'Try a policy file',
        description:
          'Evaluates a policy file on the last runs or deployments that it covers, as of now, and returns the result of ' +
          'each rule. Stores nothing and decides nothing. The last 1,000 runs or deployments within the data retention ' +
          'are examined. Without bindings, a policy is evaluated on all of them. Also requires the permission `view`.\n\n' +
          'Errors: 400 `invalid_policy` if the file has mistakes, which are in `details.mistakes`. 403 ' +
          '`insufficient_permission` without the permission `view`. 429 `rate_limited` while another dry run of the ' +
          'organization is running.',
        tags,
        params: OrganizationPath,
        body: PolicyTrial,
        response: { 200: Envelope(DryRun, 'The results.') },
      },
    },
    async ({ actor, body }) => ({ data: await runPolicyTrial(services, actor, body) }),
  )

  app.post(
    PATH,
    {
      config: { ...config, fresh: true, updates: ({ created }) => [update('policy', created)] },
      schema: {
        operationId: 'applyPolicy',
        summary: 'Apply a policy file',
        description:
          'Creates a policy, or stores the next version of the policy with the name in the file (201). Content equal to ' +
          'the current version changes nothing (200); comments and layout do not count. The policy is in force at once, ' +
          'also for waiting deployments.\n\nErrors: 400 `invalid_policy` if the file has mistakes, which are in ' +
          '`details.mistakes`. 409 `too_many_policies` if the organization has 500 policies. 409 `version_conflict` if ' +
          'the policy has another version than `expected_version`.',
        tags,
        params: OrganizationPath,
        body: PolicyApplication,
        response: {
          200: Envelope(AppliedPolicy, 'The current version has the same content.'),
          201: Envelope(AppliedPolicy, 'The version was stored.'),
          202: WAITS,
        },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      const { file: source, expected_version } = body
      if (await isChangedByTwo(services.sql, actor.org_id)) {
        const proposed = await toPolicyChange(services, actor.org_id, body)
        const waiting = await createPendingChange(services, actor, toAuthor(actor, body), proposed)
        return reply.code(202).send({ data: waiting })
      }
      const policy = { definition: readPolicyText(source), source, bundle: null, file: null, expected_version }
      const applied = await applyPolicy(services, actor.org_id, toAuthor(actor, body), policy)
      request.created = applied.id
      return reply.code(applied.changed ? 201 : 200).send({ data: applied })
    },
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { ...config, fresh: true, updates: ({ params }) => [update('policy', params.id)] },
      schema: {
        operationId: 'deletePolicy',
        summary: 'Delete a policy',
        description:
          'Deletes a policy of the organization. Its versions stay stored: applying a file with its name continues them.\n\n' +
          'Errors: 404 `not_found` if the organization has no such policy. 409 `policy_in_use` if gates name it, which ' +
          'are in `details.gates`. 409 `policy_in_repository` if it comes from a file in a repository.',
        tags,
        params: ItemPath,
        querystring: DeletionQuery,
        response: { 200: Envelope(RemovedPolicy, 'The policy was deleted.'), 202: WAITS },
      },
    },
    async ({ actor, params, query }, reply) => {
      const { org_id } = actor
      const author = toAuthor(actor, query)
      if (await isChangedByTwo(services.sql, org_id)) {
        const proposed = await toPolicyDeletion(services, org_id, params.id)
        return reply.code(202).send({ data: await createPendingChange(services, actor, author, proposed) })
      }
      const removal = { org_id, id: params.id, author, findGates: listGatesOfPolicy }
      return { data: await services.sql.begin((tx) => removePolicy(tx, removal, services.clock.now())) }
    },
  )
}
