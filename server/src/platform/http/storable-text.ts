import type { FastifyInstance } from 'fastify'
import { invalidField, pointerToken } from './errors.ts'

/** Refuses query parameters that PostgreSQL cannot store: U+0000. Bodies are checked in `json-body.ts`. */
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

/** Throws `invalid_request` for the first value that PostgreSQL cannot store: U+0000, lone surrogates, infinity. */
export function refuseUnstorable(value: unknown, path: string, depth = 0): void {
  if (depth > NESTING_MAX) throw invalidField(path, `is nested deeper than ${NESTING_MAX} levels`)
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw invalidField(path, 'must not contain U+0000 or a lone surrogate')
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw invalidField(path, 'is a number outside the range of a double')
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === '__proto__') throw invalidField(`${path}/__proto__`, 'is not a field of this request')
    refuseUnstorable(name, path, depth)
    refuseUnstorable(inner, `${path}/${pointerToken(name)}`, depth + 1)
  }
}
