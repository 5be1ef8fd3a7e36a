import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { toBrowserAddress } from '../../platform/loopback.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { createRun } from './create-run.ts'
import type { RunConflict } from './record-run.ts'
import { CiRun, CiRunUpdate, NewCiRun, RunPath } from './run.schema.ts'
import type { CiSystemRun } from './run.store.ts'
import { openRunIntake } from './run-intake.ts'
import { updateRun } from './update-run.ts'

export async function runRoutes(app: HttpServer, services: Services): Promise<void> {
  const intake = openRunIntake(services.sql)
  const sendRun = (reply: FastifyReply, run: CiSystemRun, conflicts: readonly RunConflict[] = []) =>
    sendData(reply, JSON.stringify(toCiRun(run, conflicts, services.config.baseUrl)))

  app.post(
    '/v1/ci/runs',
    {
      config: { scope: 'write:ci', updates: ({ created }) => [update('run', created)] },
      schema: {
        operationId: 'createCiRun',
        summary: 'Create a CI run',
        description:
          'Creates a run (201), adds an attempt to an existing run (201), or returns an existing attempt unchanged (200). ' +
          '`ci_system`, `ci_instance`, `external_run_id` and the trust level identify a run. Without `ci_instance`, the run ' +
          'that was stored without one is meant, else the one of the same repository and commit, else the newest; a run that ' +
          'was stored without one gets that of the first request that names one and agrees in repository and commit. ' +
          '`conflicts` names what differs. What an API key reports under the number of ' +
          'the run of a token is another run, and `stands_beside` names it. An existing attempt only changes from `queued` to ' +
          '`in_progress`. Safe to repeat.\n\nThe OIDC token of a CI job can create its own run, which is then `verified`, ' +
          'or `untrusted` if code of strangers may have run in the job. `ci_system` and `external_run_id` are then those ' +
          'of the token, and its claims take the place of the fields of the body. If the code host of the repository is ' +
          'connected, the run of the code host is returned (200). Other runs that a token creates must belong to its ' +
          'repository and are `self_reported`.\n\nErrors: 400 `invalid_request` if `repository`, `commit_sha`, `ci_instance`, `ref` ' +
          'or `attempt` contradicts the token. 403 `forbidden` if a token is about a run of another repository, or about ' +
          'another run although code of strangers may have run in its job. 404 `run_not_found` if the connected code host has not reported the run yet. ' +
          '409 `attempt_outdated` if a higher attempt exists. 409 `run_conflict` if a run of another repository has the ' +
          'number of the run of a token, or if a higher attempt with `ci_instance` is of another repository. 429 `rate_limited` if the API key or OIDC trust has created 2,000 runs on this UTC day, ' +
          'or if the organization has reached the monthly limit of its plan.',
        tags: ['CI ingestion'],
        body: NewCiRun,
        response: {
          200: Envelope(CiRun, 'The existing attempt of the run.'),
          201: Envelope(CiRun, 'The run or attempt was created.'),
        },
      },
    },
    async (request, reply) => {
      const { run, created, conflicts } = await createRun(services, intake, request.actor, request.body as NewCiRun)
      request.created = run.id
      return sendRun(reply.code(created ? 201 : 200), run, conflicts)
    },
  )

  app.patch(
    '/v1/ci/runs/:run_id',
    {
      config: { scope: 'write:ci', updates: ({ params }) => [update('run', params.run_id)] },
      schema: {
        operationId: 'updateCiRun',
        summary: 'Update a CI run',
        description:
          'Updates the status, URL or completion time of one attempt of a run. A final status finishes the attempt. ' +
          'Sending the same final status again returns the run unchanged.\n\nErrors: 404 `not_found` if the run or the ' +
          'attempt does not exist, or if the run comes from a connected code host; the token of such a run gets it ' +
          'unchanged. 409 `run_finished` for any other change of a finished attempt. 403 `forbidden` if a token is about ' +
          'a run of another repository, or about another run although code of strangers may have run in its job. 403 ' +
          '`other_lane` if a credential that can be trusted more has stated the attempt.',
        tags: ['CI ingestion'],
        params: RunPath,
        body: CiRunUpdate,
        response: { 200: Envelope(CiRun, 'The updated run.') },
      },
    },
    async (request, reply) =>
      sendRun(reply, await updateRun(services, request.actor, request.params.run_id, request.body)),
  )
}

/**
 * The representation of a run with one of its attempts (specification, "CI run"). `baseUrl` is
 * where the console is.
 */
function toCiRun(run: CiSystemRun, conflicts: readonly RunConflict[], baseUrl: string) {
  return {
    id: run.id,
    provider: run.provider,
    ci_system: run.ci_system,
    ...(run.ci_instance !== null && { ci_instance: run.ci_instance }),
    ci_system_name: run.ci_system_name,
    external_run_id: run.external_run_id,
    attempt: run.attempt,
    repository: run.repository,
    commit_sha: run.commit_sha,
    ref: run.ref,
    pipeline_name: run.pipeline_name,
    url: run.url,
    status: run.status,
    started_at: run.started_at,
    completed_at: run.completed_at,
    actor: run.actor,
    event: run.event,
    deadline_at: run.deadline_at,
    trust: run.trust,
    linked_repository: run.linked_repository,
    stands_beside: run.stands_beside,
    credential: run.credential && { type: run.credential.type, name: run.credential.name },
    ...(conflicts.length > 0 && { conflicts }),
    app_url: `${toBrowserAddress(baseUrl)}/runs/${run.id}`,
    created_at: run.created_at,
    updated_at: run.updated_at,
  }
}
