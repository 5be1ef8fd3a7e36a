import type { FastifyInstance } from 'fastify'
import { invalidField, pointerToken } from './errors.ts'

/** PostgreSQL stores neither U+0000 nor lone surrogates. A query that holds one is refused by name; bodies are read elsewhere. */
export function registerStorableText(app: FastifyInstance): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.url.includes('%00')) return done(mistakeIn(request.query))
    done()
  })
}

function mistakeIn(query: unknown): Error | undefined {
  try {
    refuseUnstorable(query, '/query')
    return undefined
  } catch (error) {
    return error as Error
  }
}

const NESTING_MAX = 64

/** Throws `invalid_request` for the first text in a request's value that the database could not store. */
export function refuseUnstorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw invalidField(path, `is nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw invalidField(path, 'must not hold U+0000 or half of a surrogate pair')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw invalidField(`${path}/__proto__`, 'is not a field of this request')
    refuseUnstorable(name, path, depth)
    refuseUnstorable(inner, `${path}/${pointerToken(name)}`, depth + 1)
  }
}
