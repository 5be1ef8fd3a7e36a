import type { FastifyReply } from 'fastify'

/**
 * Sends JSON text unchanged. Most rows leave PostgreSQL as JSON and are never parsed in this
 * process.
 */
export function sendJson(reply: FastifyReply, text: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text)
}

/** Sends JSON text as `{ data: <object> }`. */
export function sendData(reply: FastifyReply, json: string): FastifyReply {
  return sendJson(reply, `{"data":${json}}`)
}
