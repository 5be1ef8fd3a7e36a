import {
  infiniteQueryOptions,
  type Query,
  QueryCache,
  QueryClient,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import { asApiError } from './api-error.ts'
import { client } from './client.ts'
import type { paths } from './schema.ts'
import { hasPermission, type Permission, type Session } from './session.ts'

const STALE_AFTER_MS = 30_000
const TRIES_MAX = 2
/** Longer lists are not read again by themselves: the list offers it. */
const PAGES_MAX = 2

/**
 * `onSignedOut` is called when a query finds that the session has ended, unless its `meta` has
 * `mayBeSignedOut`.
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { meta }) => {
        if (asApiError(error)?.code === 'not_signed_in' && !meta?.mayBeSignedOut) onSignedOut()
      },
    }),
    defaultOptions: {
      queries: { staleTime: STALE_AFTER_MS, retry: shouldRetry },
      mutations: { retry: false },
    },
  })
}

/** A response that says no will say no again; a lost connection or a restart may pass. */
function shouldRetry(failures: number, error: unknown): boolean {
  const status = asApiError(error)?.status ?? 0
  return failures < TRIES_MAX && (status === 0 || status >= 500)
}

/** A page of a list of the API. */
export type ListPage = { data: unknown[]; next_cursor: string | null }

type Get<Path extends keyof paths> = paths[Path] extends { get: infer Operation } ? Operation : never
type Body<Path extends keyof paths> =
  Get<Path> extends { responses: { 200: { content: { 'application/json': infer Json } } } } ? Json : never
type Parameters<Path extends keyof paths> = Get<Path> extends { parameters: infer Parameters } ? Parameters : never
type ListPath = { [Path in keyof paths]: Body<Path> extends never ? never : ListPathOr<Path> }[keyof paths]
type ListPathOr<Path extends keyof paths> = Body<Path> extends ListPage ? Path : never

/** A list of the API that is read page by page: `listQuery('/app/api/orgs/{org}/runs', { path, query })`. */
export function listQuery<Path extends ListPath>(path: Path, params: Parameters<Path>) {
  const { query, ...rest } = params as { query?: object }
  return infiniteQueryOptions({
    queryKey: ['get', path, { params }] as QueryKey,
    queryFn: async ({ pageParam, signal }): Promise<Body<Path> & ListPage> => {
      const init = { params: { ...rest, query: { ...query, cursor: pageParam } }, signal }
      const { data } = await client.GET(path as never, init as never)
      return data as unknown as Body<Path> & ListPage
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchOnMount: (query) => !isLongList(query),
    refetchOnWindowFocus: (query) => !isLongList(query),
    refetchOnReconnect: (query) => !isLongList(query),
  })
}

/** The lists that can count what matches their filters. */
const COUNTED: ReadonlySet<unknown> = new Set<ListPath>([
  '/app/api/orgs/{org}/runs',
  '/app/api/orgs/{org}/deployments',
  '/app/api/orgs/{org}/security/issues',
  '/app/api/orgs/{org}/security/findings',
  '/app/api/orgs/{org}/security/alerts',
  '/app/api/orgs/{org}/security/uploads',
  '/app/api/orgs/{org}/security/triage',
  '/app/api/orgs/{org}/changes',
  '/app/api/orgs/{org}/compliance/results',
  '/app/api/orgs/{org}/audit-log',
])

/** How many rows match the filters of a list: exactly, or `count` and more. */
export type Matching = { count: number; exact: boolean }

/** The query that counts what a list has on all of its pages. It is for lists with more than one. */
export function matchingQuery([method, path, init]: QueryKey, hasMore: boolean) {
  const { params } = (init ?? {}) as { params?: { path?: object; query?: object } }
  const counted = { ...params, query: { ...params?.query, limit: 1, count: true } }
  return queryOptions({
    queryKey: [method, path, { params: counted }],
    queryFn: async ({ signal }): Promise<Matching | null> => {
      const { data } = await client.GET(path as never, { params: counted, signal } as never)
      return (data as unknown as { meta: { matching?: Matching } }).meta.matching ?? null
    },
    enabled: hasMore && COUNTED.has(path),
  })
}

/** Whether a list has been read so far that it is not read again by itself. */
export function isLongList({ state: { data } }: Pick<Query, 'state'>): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > PAGES_MAX
}

type Loader = { context: { queries: QueryClient; session: Session }; params: { org: string } }
type ReadOptions = { permission?: Permission }

/**
 * Begins to read what a page shows first, while its code is still being loaded. The `loader` of every
 * route with data calls it. The page itself shows a failure, and reads again what is old.
 */
export function readAhead(
  loader: Loader,
  queries: { queryKey: QueryKey }[],
  { permission = 'view' }: ReadOptions = {},
) {
  const { context, params } = loader
  if (!hasPermission(context.session, params.org, permission)) return
  for (const query of queries) {
    if (context.queries.getQueryData(query.queryKey) !== undefined) continue
    if ('initialPageParam' in query) void context.queries.prefetchInfiniteQuery(query as never)
    else void context.queries.prefetchQuery(query as never)
  }
}
