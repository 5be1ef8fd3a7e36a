/** A response of octokit. */
export type Response = { status: number; headers: Record<string, unknown>; data: unknown }

/** A page as GitHub sent it. `next` holds the parameters of the next page. */
export type RawPage = { data: unknown; next: string | null; etag: string | null }

export const PAGE_ITEMS = 100
/** The parameters by which GitHub pages its lists. */
const CURSOR_PARAMETERS = ['page', 'after', 'cursor']

/** Some lists are arrays, others are in a field of an object with the count. */
export function itemsOf(data: unknown): unknown[] {
  if (Array.isArray(data)) return data
  return Object.values(data as object).find(Array.isArray) ?? []
}

/**
 * Only the parameters of the next page are kept of its address, so that `next` cannot lead to
 * another address. Servers without the header `Link` may give the count.
 */
export function nextOf(response: Response, data: object, page: number): string | null {
  const link = textOf(response.headers.link)
  const address = /<([^>]*)>;[^<]*rel="next"/.exec(link ?? '')?.[1]
  if (address !== undefined && URL.canParse(address))
    return new URLSearchParams(cursorOf(new URL(address).search)).toString() || null
  const { total_count: count, total_commits: commits } = data as { total_count?: unknown; total_commits?: unknown }
  const total = Number(count ?? commits)
  return link === null && total > page * PAGE_ITEMS ? `page=${page + 1}` : null
}

export function cursorOf(query: string): Record<string, string> {
  const parameters = [...new URLSearchParams(query)]
  return Object.fromEntries(parameters.filter(([name]) => CURSOR_PARAMETERS.includes(name)))
}

export function textOf(header: unknown): string | null {
  return typeof header === 'string' ? header : null
}
