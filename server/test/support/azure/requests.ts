import { HttpError, notFound } from '../hosts/http-error.ts'
import { type Answer, type Handler, ok, type RestRequest, type Routes } from '../hosts/rest-request.ts'
import { basicOf, bearerOf } from '../hosts/tokens.ts'
import type { Account, Project, Repository, Run } from '../hosts/types.ts'
import type { AzureState, WaitingCheck } from './state.ts'

/** Whose credentials a request has. Null for what needs none. */
export type Caller = { organization: Account; check: WaitingCheck | null } | null
export type AzureRequest = RestRequest<Caller>
export type AzureRoutes = Routes<Caller>

/** What needs no credentials. */
const PUBLIC = ['GET /_apis/resourceAreas/{areaId}', 'POST /{tenant}/oauth2/v2.0/token']

/** Where Azure DevOps sends browsers. */
const SIGN_IN = 'https://spsprodcus1.vssps.visualstudio.com/_signin?realm=dev.azure.com'

/**
 * Without good credentials, Azure DevOps answers with its sign-in page: 203, or 302 to it. No page says
 * so; its users do. https://learn.microsoft.com/azure/devops/organizations/accounts/rename-organization:
 * the address changes, so credentials are not those of an organization of the old name.
 */
export function authenticate(state: AzureState, { operation, headers, params }: Omit<AzureRequest, 'caller'>): Caller {
  if (PUBLIC.includes(operation)) return null
  if (state.formerNames.has(params.organization ?? '')) throw new HttpError(302, 'Found', { location: SIGN_IN })
  const basic = basicOf(headers.authorization)
  const token = basic?.user === '' ? basic.password : bearerOf(headers.authorization)
  const check = state.checks.find((one) => one.token === token) ?? null
  if (check !== null) return { organization: check.run.repository.owner, check }
  const organization = state.credentials.ownerOf(token)
  if (organization === null) throw new HttpError(203, 'Sign in', { 'content-type': 'text/html; charset=utf-8' })
  return { organization, check: null }
}

export function organizationOf(state: AzureState, { caller, params }: AzureRequest): Account {
  const named = state.world.findAccount(params.organization ?? '')
  if (caller === null || named !== caller.organization) throw notFound('The organization does not exist')
  return named
}

/** By id or name. */
export function projectOf(state: AzureState, request: AzureRequest): Project {
  const wanted = (request.params.project ?? request.params.scopeIdentifier ?? '').toLowerCase()
  const all = state.projectsOf(organizationOf(state, request))
  const found = all.find(({ uuid, name }) => uuid === wanted || name.toLowerCase() === wanted)
  if (found === undefined) throw notFound('VS800075: The project does not exist')
  return found
}

/** A repository by its id, or by its name in a project. */
export function repositoryOf(state: AzureState, request: AzureRequest): Repository {
  const organization = organizationOf(state, request)
  const wanted = (request.params.repositoryId ?? request.params.repository ?? '').toLowerCase()
  const of = request.params.project === undefined ? null : projectOf(state, request)
  const found = state.world
    .repositoriesOf(organization)
    .find((one) => one.uuid === wanted || (of !== null && one.project === of && one.name.toLowerCase() === wanted))
  if (found === undefined || (of !== null && found.project !== of))
    throw notFound('TF401019: The Git repository does not exist')
  return found
}

export function runOf(state: AzureState, request: AzureRequest): Run {
  const project = projectOf(state, request)
  const runs = state.repositoriesOf(project).flatMap((one) => one.runs)
  const found = runs.find(({ id }) => String(id) === request.params.buildId)
  if (found === undefined) throw notFound('The requested build could not be found')
  return found
}

/**
 * A list that is continued by a token in a header, as `continuationToken` of the lists' pages has it:
 * "A continuation token, returned by a previous call to this method".
 */
export function page(items: readonly unknown[], { query }: AzureRequest, top = 'top'): Answer {
  const size = Number(query.get(top) ?? query.get('$top') ?? 100)
  const from = Number(query.get('continuationToken') ?? 0)
  const shown = items.slice(from, from + size)
  const headers = from + size < items.length ? { 'x-ms-continuationtoken': String(from + size) } : undefined
  return ok({ count: shown.length, value: shown }, headers)
}

export function list(items: readonly unknown[]): Answer {
  return ok({ count: items.length, value: items })
}

/** A list that is continued with `$skip`. */
export function skipped(items: readonly unknown[], { query }: AzureRequest): Answer {
  const from = Number(query.get('$skip') ?? 0)
  return list(items.slice(from, from + Number(query.get('$top') ?? 100)))
}

export type Route = Handler<Caller>
