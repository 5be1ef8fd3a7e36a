import type { Api, GetSuccess, PathOf } from './api.ts'
import type { paths } from './openapi.ts'

type Page<Item> = { data: Item[]; next_cursor: string | null }

/** The paths that return a list in pages. */
export type ListPath = {
  [P in PathOf<'get'>]: GetSuccess<P> extends Page<unknown> ? P : never
}[PathOf<'get'>]

export type ListItem<P extends ListPath> = GetSuccess<P> extends Page<infer Item> ? Item : never

export type ListQuery<P extends ListPath> = paths[P] extends { get: { parameters: { query?: infer Query } } }
  ? Omit<NonNullable<Query>, 'cursor'>
  : never

export type ListOptions<P extends ListPath> = { query?: ListQuery<P>; signal?: AbortSignal | undefined }

/** A cursor includes the time window of the first page. */
type AnyQuery = { since?: string; until?: string; cursor?: string }

/** Yields the items of every page. Requests a page when its first item is asked for. */
export async function* list<P extends ListPath>(
  api: Api,
  path: P,
  { query, signal }: ListOptions<P> = {},
): AsyncGenerator<ListItem<P>, void, undefined> {
  const get = api.GET as unknown as (path: P, options: object) => Promise<{ data: Page<ListItem<P>> }>
  const { since, until, ...filters }: AnyQuery = query ?? {}
  let page: AnyQuery = { ...(since && { since }), ...(until && { until }) }
  for (;;) {
    const { data } = await get(path, { params: { query: { ...filters, ...page } }, signal })
    yield* data.data
    if (data.next_cursor === null) return
    page = { cursor: data.next_cursor }
  }
}
