import type { FastifyContextConfig } from 'fastify'
import { type Actor, listContext, toPrincipal } from '../../access/actor.ts'
import { isLimitedKey } from '../../ci/runs/token-repository.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { readPage, sendPage } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { selectRepositories } from '../repositories/select-repository.ts'
import { requireRepositoryOfKey } from '../uploads/token-upload.ts'
import { closeStream, mergeStreams } from './close-stream.ts'
import { EndStream, FindingStream, StreamPath, StreamQuery, TakeOverStream } from './stream.schema.ts'
import { findStreamJson, findStreamRepository, listStreams } from './stream.store.ts'

const feature = 'security_uploads'
const tags = ['Security uploads']
const TRIAGE: FastifyContextConfig = {
  scope: 'write:triage',
  permission: 'triage',
  feature,
  updates: () => [update('finding'), update('issue')],
}

export async function registerStreamRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/security/streams',
    {
      config: { scope: 'read:security', permission: 'view', feature },
      schema: {
        operationId: 'listFindingStreams',
        summary: 'List streams of findings',
        description:
          'Returns the streams of security reports, those with the newest reports first.\n\n' +
          'Errors: 400 `REPOSITORY_AMBIGUOUS` if the repository name exists on ' +
          'more than one code host and `provider` is missing.',
        tags,
        querystring: StreamQuery,
        response: { 200: ListEnvelope(FindingStream, 'A page of streams.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      // Streams count however old their reports are.
      const page = { ...readPage(query, context), since: new Date(0) }
      const repositories = await selectRepositories(services.sql, actor.org_id, query)
      const selection = { ...repositories, status: query.status ?? null, now: context.now }
      return sendPage(reply, {
        rows: await listStreams(services.sql, actor.org_id, page, selection),
        page,
        query,
        context,
      })
    },
  )

  app.post(
    '/v1/security/streams/:id/end',
    {
      config: TRIAGE,
      schema: {
        operationId: 'endFindingStream',
        summary: 'End a stream of findings',
        description:
          'Closes the open findings of a stream to which nobody reports any more. Its next report starts it again.\n\n' +
          'Errors: 403 `forbidden` if the API key is limited to other repositories. 404 `not_found`. 409 `stream_ended`. ' +
          '503 `unavailable` if a report of the repository is being processed.',
        tags,
        params: StreamPath,
        body: EndStream,
        response: { 200: Envelope(FindingStream, 'The stream.') },
      },
    },
    async ({ actor, params, body }, reply) => {
      await checkStreamRepository(services, actor, Number(params.id))
      const request = { orgId: actor.org_id, principal: toPrincipal(actor) }
      await closeStream(services, request, Number(params.id), body.reason.trim())
      return sendData(reply, await requireJson(services, actor.org_id, params.id))
    },
  )

  app.post(
    '/v1/security/streams/:id/take-over',
    {
      config: TRIAGE,
      schema: {
        operationId: 'takeOverFindingStream',
        summary: 'Take over a stream of findings',
        description:
          'Ends the stream `from` in favour of this one, which has the same repository, tool, category and ref and is not ' +
          'weaker. Its findings get the decisions and the first-seen dates of the same problems; the other findings of ' +
          '`from` are closed.\n\nErrors: 403 `forbidden` if the API key is limited to other repositories. 404 ' +
          '`not_found`. 409 `other_stream`, `weaker_stream` or `stream_ended`. 503 ' +
          '`unavailable` if a report of the repository is being processed.',
        tags,
        params: StreamPath,
        body: TakeOverStream,
        response: { 200: Envelope(FindingStream, 'The stream that goes on.') },
      },
    },
    async ({ actor, params, body }, reply) => {
      await checkStreamRepository(services, actor, Number(params.id))
      const request = { orgId: actor.org_id, principal: toPrincipal(actor) }
      await mergeStreams(services, request, { from: Number(body.from), into: Number(params.id) })
      return sendData(reply, await requireJson(services, actor.org_id, params.id))
    },
  )
}

/** Throws 403 `forbidden` if an API key is limited to others than the stream's repository. */
async function checkStreamRepository({ sql }: Services, actor: Actor, id: number): Promise<void> {
  if (!isLimitedKey(actor)) return
  const repository = await findStreamRepository(sql, actor.org_id, id)
  if (repository !== null) await requireRepositoryOfKey(sql, actor, repository)
}

async function requireJson({ sql, clock }: Services, orgId: string, id: string): Promise<string> {
  const json = await findStreamJson(sql, orgId, Number(id), clock.now())
  if (json === null) throw createNotFoundError('stream')
  return json
}
