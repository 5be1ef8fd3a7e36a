import { plainId } from '../vocabulary/vulnerability-id.ts'

/** A source asserts that two ids name one vulnerability. */
export type AliasAssertion = { source: string; id: string; alias: string }

/** `source` is `name` if one id is the other with the prefix of a distribution. */
export type AliasStep = { from: string; to: string; source: string }

/** Returns the shortest path of aliases from one id to another, or null if there is none. */
export function aliasPath(assertions: readonly AliasAssertion[], from: string, to: string): AliasStep[] | null {
  const steps = stepsByStart(assertions, from)
  // Iterating a map also visits the entries that are added on the way: a breadth-first search.
  const lastSteps = new Map<string, AliasStep | null>([[from, null]])
  for (const id of lastSteps.keys()) {
    if (id === to) return pathTo(to, lastSteps)
    for (const step of steps.get(id) ?? []) if (!lastSteps.has(step.to)) lastSteps.set(step.to, step)
  }
  return null
}

function pathTo(end: string, lastSteps: ReadonlyMap<string, AliasStep | null>): AliasStep[] {
  const path: AliasStep[] = []
  for (let step = lastSteps.get(end); step; step = lastSteps.get(step.from)) path.unshift(step)
  return path
}

/**
 * Sorted, so that the choice between two shortest paths does not depend on the order of the
 * assertions.
 */
function stepsByStart(assertions: readonly AliasAssertion[], from: string): Map<string, AliasStep[]> {
  const ids = new Set([from, ...assertions.flatMap(({ id, alias }) => [id, alias])])
  const prefixed = [...ids].filter((id) => plainId(id) !== id).map((id) => ({ source: 'name', id, alias: plainId(id) }))
  const steps = [...assertions, ...prefixed].flatMap(({ source, id, alias }) => [
    { from: id, to: alias, source },
    { from: alias, to: id, source },
  ])
  return Map.groupBy(
    steps.sort((a, b) => compare(a.to, b.to) || compare(a.source, b.source)),
    (step) => step.from,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
