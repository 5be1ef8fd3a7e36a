import { found, HttpError } from '../hosts/http-error.ts'
import { type Answer, ok, type RestRequest } from '../hosts/rest-request.ts'
import type { Tokens } from '../hosts/tokens.ts'
import type { Account, Repository, Run } from '../hosts/types.ts'
import type { Webhooks } from '../hosts/webhooks.ts'
import type { World } from '../hosts/world.ts'

/** What the routes of the fake need. */
export type Bitbucket = { world: World; hooks: Webhooks; tokens: Tokens; url: () => string }

/** The workspace of the token; null for requests that get a token. */
export type Caller = Account | null
export type Request = RestRequest<Caller>

/** Anybody may read a workspace and its public repositories. */
export function anyWorkspaceOf({ world }: Bitbucket, { params }: Request): Account {
  return found(world.findAccount(params.workspace as string))
}

/**
 * Of another workspace, or without the permission, Bitbucket answers as if there were none
 * (https://developer.atlassian.com/cloud/bitbucket/rest/intro/#standardized-error-responses).
 */
export function workspaceOf({ world }: Bitbucket, { params, caller }: Request): Account {
  const workspace = found(world.findAccount(params.workspace as string))
  if (workspace !== caller) throw new HttpError(404, `No workspace with identifier '${params.workspace}'.`)
  return workspace
}

export function repositoryOf(bitbucket: Bitbucket, request: Request): Repository {
  const owner = workspaceOf(bitbucket, request)
  const wanted = (request.params.repo_slug as string).replace(/^\{(.*)\}$/, '$1').toLowerCase()
  const own = bitbucket.world.repositoriesOf(owner)
  const repository = own.find(({ uuid, name }) => uuid === wanted || name.toLowerCase() === wanted)
  if (repository === undefined) throw new HttpError(404, `Repository ${request.params.repo_slug} not found`)
  return repository
}

/** By UUID or number. */
export function runOf(repository: Repository, name: string): Run {
  const wanted = name.replace(/^\{(.*)\}$/, '$1')
  return found(repository.runs.find(({ uuid, index }) => uuid === wanted || String(index) === wanted))
}

/** The whole hash that begins like this. */
export function hashOf(repository: Repository, name: string): string {
  const known = [...repository.commits.keys()].find((sha) => sha.startsWith(name))
  if (known === undefined) throw new HttpError(404, `Commit not found: ${name}`)
  return known
}

/**
 * A page of a list. Bitbucket's reference ("Pagination"): `next` is a "link to the next page if it
 * exists", and `size`, the "total number of objects in the response", "is an optional element". The
 * list of pipelines never names a next page (`namesNext`), as its users report:
 * https://github.com/atlassian-api/atlassian-python-api/issues/652
 */
export function page(
  { url }: Bitbucket,
  request: Request,
  items: readonly unknown[],
  { pagelenMax = 100, pagelenDefault = 10, namesNext = true } = {},
): Answer {
  const asked = Number(request.query.get('pagelen') ?? pagelenDefault)
  if (!(asked >= 1 && asked <= pagelenMax)) throw new HttpError(400, 'Invalid pagelen')
  const number = Number(request.query.get('page') ?? 1)
  const values = items.slice((number - 1) * asked, number * asked)
  const hasNext = namesNext && items.length > number * asked
  const next = new URL(`${url()}${request.url.pathname}${request.url.search}`)
  next.searchParams.set('page', String(number + 1))
  return ok({ pagelen: asked, size: items.length, page: number, values, ...(hasNext ? { next: next.href } : {}) })
}
