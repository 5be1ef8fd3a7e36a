import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { ApiError } from './api-error.ts'
import { methodNotAllowed, missing } from './errors.ts'

type MethodsByPath = Map<string, Set<string>>

/**
 * Sends a response in place of the 404, or returns false. It does not return the reply: to wait for
 * a reply is to wait for nothing, because a reply is thenable.
 */
type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Lets `answer` respond to GET and HEAD where no route has the first part of the path. Paths
     * beside a route, such as /v1/nothing, stay a 404.
     */
    answerUnknownPaths(answer: Answer): void
  }
}

/**
 * 404 for an unknown path, 405 with `Allow` for a known path with another method (RFC 9110
 * §15.5.6). Both are answered before the body is read.
 */
export function registerNotFound(app: FastifyInstance): void {
  const methodsByPath: MethodsByPath = new Map()
  let answer: Answer = async () => false
  app.decorate('answerUnknownPaths', (given: Answer) => {
    answer = given
  })
  app.addHook('onRoute', (route) => remember(methodsByPath, route))
  app.addHook('onRequest', (request, reply, done) => {
    const isRefused = request.is404 && !isElsewhere(methodsByPath, request)
    done(isRefused ? noSuchRoute(methodsByPath, request, reply) : undefined)
  })
  // Plugins that serve files call this one for a file that does not exist.
  app.setNotFoundHandler(async (request, reply) => {
    if (isElsewhere(methodsByPath, request) && (await answer(request, reply))) return reply
    throw noSuchRoute(methodsByPath, request, reply)
  })
}

/** Whether a request reads a path of which no route has the first part. */
function isElsewhere(methodsByPath: MethodsByPath, { method, url }: FastifyRequest): boolean {
  const first = firstPart(url)
  return (method === 'GET' || method === 'HEAD') && ![...methodsByPath.keys()].some((path) => firstPart(path) === first)
}

function firstPart(url: string): string {
  return /^\/[^/?]*/.exec(url)?.[0] ?? ''
}

function noSuchRoute(methodsByPath: MethodsByPath, request: FastifyRequest, reply: FastifyReply): ApiError {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed = [...methodsByPath].find(([pattern]) => matches(pattern, path))?.[1]
  if (!allowed) return missing('This path does not exist.')
  reply.header('allow', [...allowed].sort().join(', '))
  return methodNotAllowed(request.method)
}

function remember(methodsByPath: MethodsByPath, { url, method }: RouteOptions): void {
  const methods = methodsByPath.get(url) ?? new Set()
  for (const name of [method].flat()) methods.add(name.toUpperCase())
  methodsByPath.set(url, methods)
}

/** Compares segment by segment; `:name` matches any one segment, `*` at the end all that follow. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.at(-1) === '*' && given.length >= wanted.length) given.splice(wanted.length - 1, Infinity, '*')
  if (wanted.length !== given.length) return false
  return wanted.every((segment, index) => (segment.startsWith(':') ? given[index] !== '' : segment === given[index]))
}
