import { HttpError } from '../hosts/http-error.ts'
import { type Answer, ok } from '../hosts/rest-request.ts'
import type { GitHubRequest } from './request.ts'

const PER_PAGE_DEFAULT = 30

/** https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api */
function perPage({ query }: GitHubRequest): number {
  return Math.min(Number(query.get('per_page') ?? PER_PAGE_DEFAULT), 100)
}

/** The address of the same list with another page or cursor. */
function linkTo({ world, url }: GitHubRequest, parameter: string, value: string | number): string {
  const target = new URL(`${world.api}${url.pathname}${url.search}`)
  target.searchParams.set(parameter, String(value))
  return target.href
}

function linkHeader(links: Record<string, string>): Record<string, string> {
  const parts = Object.entries(links).map(([name, url]) => `<${url}>; rel="${name}"`)
  return parts.length === 0 ? {} : { link: parts.join(', ') }
}

/** One page of a list whose pages have numbers. `show` is called for its items only. */
export function pageOf<T>(request: GitHubRequest, items: readonly T[], show: (item: T) => unknown) {
  const size = perPage(request)
  const page = Math.max(1, Number(request.query.get('page') ?? 1))
  const last = Math.max(1, Math.ceil(items.length / size))
  const links: Record<string, string> = {}
  if (page > 1) links.prev = linkTo(request, 'page', page - 1)
  if (page < last) links.next = linkTo(request, 'page', page + 1)
  if (page < last) links.last = linkTo(request, 'page', last)
  if (page > 1) links.first = linkTo(request, 'page', 1)
  return { items: items.slice((page - 1) * size, page * size).map(show), headers: linkHeader(links) }
}

export function listOf<T>(request: GitHubRequest, items: readonly T[], show: (item: T) => unknown): Answer {
  const { items: body, headers } = pageOf(request, items, show)
  return ok(body, headers)
}

/** A list in an object, beside the number of all items: `{ total_count, jobs: [...] }`. */
export function countedList<T>(
  request: GitHubRequest,
  name: string,
  items: readonly T[],
  show: (item: T) => unknown,
): Answer {
  const { items: body, headers } = pageOf(request, items, show)
  return ok({ total_count: items.length, [name]: body }, headers)
}

/** One page of a list that goes on after a cursor; the cursor is opaque to clients. */
export function cursorList<T>(
  request: GitHubRequest,
  items: readonly T[],
  options: { parameter: 'after' | 'cursor'; show: (item: T) => unknown },
): Answer {
  const { parameter, show } = options
  if (request.query.has('page')) throw new HttpError(400, 'The page parameter is not supported. Use cursors')
  const size = perPage(request)
  const cursor = request.query.get(parameter)
  const start = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString().replace('v1:', ''))
  const next = Buffer.from(`v1:${start + size}`).toString('base64url')
  const links: Record<string, string> = start + size < items.length ? { next: linkTo(request, parameter, next) } : {}
  return ok(items.slice(start, start + size).map(show), linkHeader(links))
}
