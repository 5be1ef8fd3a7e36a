import { found, HttpError } from '../hosts/http-error.ts'
import { type Answer, ok, type RestRequest, type Routes } from '../hosts/rest-request.ts'
import type { Account, AnyDeployment, Repository, Run } from '../hosts/types.ts'
import type { Webhooks } from '../hosts/webhooks.ts'
import type { World } from '../hosts/world.ts'

/** `ultimate` has approvals, group webhooks and vulnerabilities; `free` has manual jobs. */
export type Edition = 'free' | 'ultimate'

/** What the routes of the fake share. */
export type Gitlab = {
  world: World
  webhooks: Webhooks
  edition: Edition
  /** Whether webhooks are signed, as GitLab 19 does. */
  signs: boolean
  url: string
  /** The role of our token in its group, as a number. */
  accessLevel: number
  /** Deployments with all approvals, ours being the last. Their jobs wait to be started. */
  approved: Map<AnyDeployment, { comment: string | null }>
  /** Pipelines that another pipeline of their project started. */
  children: Set<Run>
  /** The subgroups, by the id of their group and their path in it. */
  subgroups: Map<string, Subgroup>
}

type Subgroup = { id: number; owner: Account; path: string; parent_id: number }

/** The namespace of a project, which has the id of the group or of a subgroup. */
export function namespaceOf(gitlab: Gitlab, owner: Account, path: string): { id: number; parent_id: number | null } {
  if (path === '') return { id: owner.id, parent_id: null }
  const key = `${owner.id}/${path}`
  const known = gitlab.subgroups.get(key)
  if (known !== undefined) return known
  const parent = namespaceOf(gitlab, owner, path.split('/').slice(0, -1).join('/'))
  const made = { id: gitlab.world.newIds().id, owner, path, parent_id: parent.id }
  gitlab.subgroups.set(key, made)
  return made
}

/** Our token stands for the group that it belongs to. */
export type GitlabRequest = RestRequest<Account>
export type GitlabRoutes = Routes<Account>

export function requireUltimate({ edition }: Gitlab): void {
  if (edition !== 'ultimate') throw new HttpError(404, '404 Not Found')
}

/** The project of a request. Projects of other groups are not found. */
export function projectOf({ world }: Gitlab, { params, caller }: GitlabRequest): Repository {
  const repository = world.repository(params.id as string)
  if (repository === undefined || repository.owner !== caller) throw new HttpError(404, '404 Project Not Found')
  return repository
}

/** The group of a request, by id or path. */
export function groupOf({ params, caller }: GitlabRequest): Account {
  const isOwn = [String(caller.id), caller.login].includes(params.id as string)
  return found(isOwn ? caller : null)
}

/**
 * Roles as https://docs.gitlab.com/api/access_requests/, "Valid access levels", numbers them. Who
 * has a lower one is answered 403 (https://docs.gitlab.com/api/rest/troubleshooting/, "Status
 * codes").
 */
export const MAINTAINER = 40
export const OWNER = 50

export function requireRole({ accessLevel }: Gitlab, level: number): void {
  if (accessLevel < level) throw new HttpError(403, '403 Forbidden')
}

type Key = string | number | null

/** What a list can be ordered by, the first one being its default, and its default direction. */
type Orders<T> = { by: Record<string, (item: T) => Key>; sort: 'asc' | 'desc' }

/** Items as `order_by` and `sort` of a request ask for them. Each list's page names its defaults. */
export function ordered<T>({ query }: GitlabRequest, items: readonly T[], { by, sort }: Orders<T>): T[] {
  const key = by[query.get('order_by') ?? (Object.keys(by)[0] as string)]
  if (key === undefined) throw new HttpError(400, 'order_by does not have a valid value')
  const direction = (query.get('sort') ?? sort) === 'asc' ? 1 : -1
  const compare = (one: Key, other: Key) => (one === other ? 0 : (one ?? '') < (other ?? '') ? -1 : 1)
  return items.toSorted((one, other) => direction * compare(key(one), key(other)))
}

const PER_PAGE = 20
const PER_PAGE_MAX = 100

/**
 * A page of a list with GitLab's headers (https://docs.gitlab.com/api/rest/, "Offset-based
 * pagination": `per_page` is 20 by default and 100 at most; `x-next-page` is empty on the last one).
 */
export function page({ query }: GitlabRequest, items: readonly unknown[]): Answer {
  const size = Math.min(Number(query.get('per_page') ?? PER_PAGE), PER_PAGE_MAX)
  const number = Number(query.get('page') ?? 1)
  const shown = items.slice((number - 1) * size, number * size)
  const next = number * size < items.length ? String(number + 1) : ''
  return ok(shown, { 'x-page': String(number), 'x-per-page': String(size), 'x-next-page': next })
}

export function iso(date: Date | null): string | null {
  return date === null ? null : date.toISOString()
}
