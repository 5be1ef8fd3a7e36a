import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { ObjectNotFoundError, type ObjectStore } from '../../platform/objects/object-store.ts'

/** The response 200 of a download in OpenAPI. */
export const FileResponse = {
  description: 'The bytes of the file, with its name in `Content-Disposition`.',
  content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
}

/** A file in the object store. `path` gives its name, and may come from anybody. */
type StoredFile = { key: string; path: string; size: number }

/**
 * Streams a file, with constant memory. Browsers save it and never show it, because a file of a job
 * could otherwise run scripts as this server. Throws 404 if the file is not stored.
 */
export async function sendFile(reply: FastifyReply, objects: ObjectStore, { key, path, size }: StoredFile) {
  const bytes = objects.read(key)[Symbol.asyncIterator]()
  const first = await bytes.next().catch((error: unknown) => {
    throw error instanceof ObjectNotFoundError ? createNotFoundError('file') : error
  })
  reply
    .type('application/octet-stream')
    .header('content-length', size)
    .header('content-disposition', attachmentNamed(path))
    .header('content-security-policy', "sandbox; default-src 'none'")
  return reply.send(Readable.from(continued(first, bytes), { objectMode: false }))
}

async function* continued(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>) {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/** RFC 6266: the name in UTF-8, and in ASCII for old clients. */
function attachmentNamed(path: string): string {
  const name = (path.split(/[/\\]/).at(-1) || 'file').toWellFormed()
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${name.replace(/[^\w.+-]/g, '_')}"; filename*=UTF-8''${encoded}`
}
