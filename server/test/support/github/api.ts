import { HttpError } from '../hosts/http-error.ts'
import type { Handler as RestHandler, RestRequest } from '../hosts/rest-request.ts'
import type { Api } from '../hosts/rest-server.ts'
import { fullName } from '../hosts/world.ts'
import type { Authentication, Caller } from './authentication.ts'
import { restDescription, SLASHED } from './description.ts'
import { answerGraphql } from './graphql/answer.ts'
import { GITHUB_PAGES } from './pages.ts'
import { GitHubRequest, type Handler } from './request.ts'
import type { GitHubTrouble } from './trouble.ts'
import { type GitHubWorld, githubJson } from './world.ts'

export type Parts = {
  world: GitHubWorld
  trouble: GitHubTrouble
  authentication: Authentication
  handlers: Record<string, Handler>
  /** The path below which the API is, such as `/api/v3`; empty for none. */
  basePath: string
  graphql: { enabled: boolean }
}

const LOG = 'GET /_logs/{repository}/{job}'
const GRAPHQL = 'POST /graphql'

/** How GitHub answers the requests that reach the fake. */
export function githubApi(parts: Parts): Api<Caller> {
  const { world, trouble, authentication, handlers } = parts
  const routes = Object.entries(handlers).map(([operation, handler]): [string, RestHandler<Caller>] => [
    operation,
    (request) => handler(new GitHubRequest(world, request)),
  ])
  return {
    routes: {
      ...Object.fromEntries(routes),
      [LOG]: (request) => readLog(parts, request),
      [GRAPHQL]: (request) => graphqlAnswer(parts, request),
    },
    pages: GITHUB_PAGES,
    slashed: SLASHED,
    pathOf: (pathname) => apiPath(parts, pathname),
    trouble,
    violations: world.violations,
    authenticate: (request) => callerOf(authentication, request),
    errorBody: (status, message) => ({
      message,
      documentation_url: 'https://docs.github.com/rest',
      status: String(status),
    }),
    serialize: githubJson,
    headers: () => ({ 'x-github-request-id': 'FA4E:0000', ...trouble.headers() }),
    description: world.checked ? restDescription() : null,
    undescribed: [LOG, GRAPHQL],
  }
}

function callerOf(authentication: Authentication, { operation, headers }: Omit<RestRequest<Caller>, 'caller'>): Caller {
  const caller = authentication.callerOf(headers.authorization)
  const isOpen = operation.startsWith('POST /app-manifests/') || operation === LOG
  if (caller.type === 'nobody' && !isOpen) throw new HttpError(401, 'Requires authentication')
  return caller
}

/**
 * The path below that of the API. GitHub redirects to `/repositories/{id}`, which stands for
 * `/repos/{owner}/{repo}`.
 */
function apiPath({ world, basePath }: Parts, pathname: string): string {
  const isBelow = pathname.startsWith(`${basePath}/`)
  const path = isBelow ? pathname.slice(basePath.length) : pathname === '/api/graphql' ? '/graphql' : pathname
  const [, id, rest] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
  if (id === undefined) return path
  const repository = world.repositoryOfId(Number(id))
  return `/repos/${repository === undefined ? '-/-' : fullName(repository)}${rest ?? ''}`
}

/** The storage of logs takes no token. */
function readLog({ world }: Parts, { params }: RestRequest<Caller>) {
  const repository = world.repositoryOfId(Number(params.repository))
  const jobs = (repository?.runs ?? []).flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.jobs))
  const log = jobs.find(({ id }) => id === Number(params.job))?.log
  if (log === undefined || log === null) throw new HttpError(404, 'Not Found')
  return { status: 200, text: log }
}

function graphqlAnswer({ world, graphql }: Parts, { caller, body }: RestRequest<Caller>) {
  if (!graphql.enabled) return { status: 501, body: { message: 'GraphQL is switched off' } }
  if (caller.type !== 'installation') throw new HttpError(401, 'Requires authentication')
  return { status: 200, body: answerGraphql(world, caller.installation, body) }
}
