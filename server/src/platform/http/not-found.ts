import type { FastifyInstance, RouteOptions } from 'fastify'
import { ApiError } from './errors.ts'

/** 404 for an unknown path, 405 with `Allow` for a known path with another method (RFC 9110 §15.5.6). */
export function registerNotFound(app: FastifyInstance): void {
  const methodsByPath = new Map<string, Set<string>>()
  app.addHook('onRoute', (route) => remember(methodsByPath, route))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = [...methodsByPath].find(([pattern]) => matches(pattern, path))?.[1]
    if (!allowed) throw new ApiError(404, 'not_found', 'There is nothing at this address.')
    reply.header('allow', [...allowed].sort().join(', '))
    throw new ApiError(405, 'method_not_allowed', `${request.method} is not possible here.`)
  })
}

function remember(methodsByPath: Map<string, Set<string>>, { url, method }: RouteOptions): void {
  if (url.includes('*')) return
  const methods = methodsByPath.get(url) ?? new Set()
  for (const name of [method].flat()) methods.add(name.toUpperCase())
  methodsByPath.set(url, methods)
}

/** Segment by segment; `:name` stands for any one segment. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return false
  return wanted.every((segment, at) => (segment.startsWith(':') ? given[at] !== '' : segment === given[at]))
}
