import { plainId } from '../../vocabulary/vulnerability-id.ts'

/** What a source says: these two ids are one vulnerability. */
export type AliasAssertion = { source: string; id: string; alias: string }

/** `source` is `name` where the one id is the other with a distribution's name before it. */
export type AliasStep = { from: string; to: string; source: string }

/** The shortest way from one id to another through what sources say, or null where there is none. */
export function aliasPath(assertions: readonly AliasAssertion[], from: string, to: string): AliasStep[] | null {
  const steps = stepsByStart(assertions, from)
  const cameBy = new Map<string, AliasStep | null>([[from, null]])
  for (const at of cameBy.keys()) {
    if (at === to) return wayTo(to, cameBy)
    for (const step of steps.get(at) ?? []) if (!cameBy.has(step.to)) cameBy.set(step.to, step)
  }
  return null
}

function wayTo(end: string, cameBy: ReadonlyMap<string, AliasStep | null>): AliasStep[] {
  const way: AliasStep[] = []
  for (let step = cameBy.get(end); step; step = cameBy.get(step.from)) way.unshift(step)
  return way
}

/** In an order that does not depend on the one in which they were read: of two ways that are as short, it is always the same. */
function stepsByStart(assertions: readonly AliasAssertion[], from: string): Map<string, AliasStep[]> {
  const ids = new Set([from, ...assertions.flatMap(({ id, alias }) => [id, alias])])
  const named = [...ids].filter((id) => plainId(id) !== id).map((id) => ({ source: 'name', id, alias: plainId(id) }))
  const steps = [...assertions, ...named].flatMap(({ source, id, alias }) => [
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
