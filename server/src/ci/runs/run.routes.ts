import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { toCiRun } from './ci-run.ts'
import { createRun } from './create-run.ts'
import { CiRun, CiRunUpdate, NewCiRun, RunPath } from './run.schema.ts'
import type { StoredRun } from './run.store.ts'
import { openRunIntake } from './run-intake.ts'
import { updateRun } from './update-run.ts'

export async function runRoutes(app: HttpServer, services: Services): Promise<void> {
  const intake = openRunIntake(services.sql)
  const sendRun = (reply: FastifyReply, run: StoredRun) =>
    sendData(reply, JSON.stringify(toCiRun(run, services.config.baseUrl)))

  app.post(
    '/v1/ci/runs',
    {
      config: { scope: 'write:ci' },
      schema: {
        operationId: 'createCiRun',
        summary: 'Report that a CI run exists',
        tags: ['CI ingestion'],
        body: NewCiRun,
        response: { 200: Envelope(CiRun), 201: Envelope(CiRun) },
      },
    },
    async (request, reply) => {
      const { run, created } = await createRun(services, intake, request.actor, request.body as NewCiRun)
      return sendRun(reply.code(created ? 201 : 200), run)
    },
  )

  app.patch(
    '/v1/ci/runs/:run_id',
    {
      config: { scope: 'write:ci' },
      schema: {
        operationId: 'updateCiRun',
        summary: 'Report how a CI run goes on',
        tags: ['CI ingestion'],
        params: RunPath,
        body: CiRunUpdate,
        response: { 200: Envelope(CiRun) },
      },
    },
    async (request, reply) =>
      sendRun(reply, await updateRun(services, request.actor, request.params.run_id, request.body)),
  )
}
