import type { FastifyReply } from 'fastify'

/** Sends JSON text as it is. Rows leave PostgreSQL as JSON, so most responses are never objects in this process. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text)
}

/** `{ data: <object> }` around an object that is JSON text already. */
export function sendData(reply: FastifyReply, json: string): FastifyReply {
  return sendJson(reply, `{"data":${json}}`)
}
