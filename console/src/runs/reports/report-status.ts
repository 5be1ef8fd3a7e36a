type Rated = { status: string }

/** The worst comes first. */
const ORDER = ['fail', 'warn', 'pass', 'info']

/** The worst status of the attestations of a report. Null if it has none. */
export function statusOfReport({ attestations }: { attestations: readonly Rated[] }): string | null {
  return worstFirst(attestations)[0]?.status ?? null
}

/** What needs attention first. Equal ones stay in their order. */
export function worstFirst<Item extends Rated>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
}
