import type { Reference } from './organization-rows.store.ts'

/** What gives access to an organization. It is deleted as early as the references allow. */
const ACCESS = ['members', 'api_keys', 'oidc_trusts', 'links', 'single_sign_on']

/**
 * The tables in an order in which their rows can be deleted: a table comes after all that refer to
 * it. Throws if tables refer to each other in a circle.
 */
export function sortForDeletion(tables: readonly string[], references: readonly Reference[]): string[] {
  const order: string[] = []
  const left = new Set([...ACCESS.filter((table) => tables.includes(table)), ...tables])
  while (left.size > 0) {
    const next = [...left].find((table) => !references.some(({ child, parent }) => parent === table && left.has(child)))
    if (next === undefined) throw new Error(`Tables refer to each other in a circle: ${[...left].join(', ')}`)
    left.delete(next)
    order.push(next)
  }
  return order
}
