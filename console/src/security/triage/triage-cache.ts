import type { Query, QueryClient } from '@tanstack/react-query'
import type { TargetType } from './targets.ts'

type Item = { id: string }
type Shown = { pages?: { data: Item[] }[]; data?: Item | Item[] }

const PATHS: Record<TargetType, string> = {
  issue: '/app/api/orgs/{org}/security/issues',
  finding: '/app/api/orgs/{org}/security/findings',
  alert: '/app/api/orgs/{org}/security/alerts',
}

/** A change of what the screens show, before the server has made it. */
export type ShownChange = { apply: () => Promise<void>; revert: () => void }

/** Changes some objects wherever they are shown, in lists or alone. */
export function changeShown(
  queries: QueryClient,
  type: TargetType,
  ids: ReadonlySet<string>,
  change: object,
): ShownChange {
  const predicate = ({ queryKey: [, path] }: Query) => path === PATHS[type] || path === `${PATHS[type]}/{id}`
  const before = new Map<string, Item>()
  const patch = (of: (item: Item) => Item) =>
    queries.setQueriesData<Shown>({ predicate }, (shown) => shown && patchShown(shown, of))
  return {
    apply: async () => {
      // A response that is on its way would bring the old state back.
      await queries.cancelQueries({ predicate })
      patch((item) => {
        if (!ids.has(item.id)) return item
        before.set(item.id, item)
        return { ...item, ...change }
      })
    },
    revert: () => patch((item) => before.get(item.id) ?? item),
  }
}

/** Pages and objects that stay the same keep their identity, so that nothing else is rendered. */
function patchShown(shown: Shown, of: (item: Item) => Item): Shown {
  if (shown.pages)
    return {
      ...shown,
      pages: shown.pages.map((page) => (hasChange(page.data, of) ? { ...page, data: page.data.map(of) } : page)),
    }
  if (Array.isArray(shown.data)) return { ...shown, data: shown.data.map(of) }
  return shown.data ? { ...shown, data: of(shown.data) } : shown
}

function hasChange(items: Item[], of: (item: Item) => Item): boolean {
  return items.some((item) => of(item) !== item)
}
