import catalog from './cwe-research-view.json' with { type: 'json' }

type Weakness = { isGeneral: boolean; parents: readonly string[] }

const STEPS_MAX = 2

const WEAKNESSES: ReadonlyMap<string, Weakness> = new Map(
  Object.entries(catalog.weaknesses as unknown as Record<string, [abstraction: string, parents: number[]]>).map(
    ([number, [abstraction, parents]]) => [
      `CWE-${number}`,
      {
        isGeneral: abstraction === 'class' || abstraction === 'pillar',
        parents: parents.map((parent) => `CWE-${parent}`),
      },
    ],
  ),
)
const CATEGORIES_AND_VIEWS: ReadonlySet<string> = new Set(catalog.categories_and_views.map((number) => `CWE-${number}`))

/**
 * Whether a CWE is a class, pillar, category or view, like CWE-693. Two findings may share such a
 * CWE and be about different weaknesses.
 */
export function isTooGeneral(cwe: string): boolean {
  return CATEGORIES_AND_VIEWS.has(cwe) || WEAKNESSES.get(cwe)?.isGeneral === true
}

/**
 * The number of steps from one CWE down to the other in the research view, at most two; null if
 * neither descends from the other, if they are further apart, or if a class, pillar, category or
 * view is one of them or between them.
 */
export function cweDistance(a: string, b: string): 0 | 1 | 2 | null {
  if (isTooGeneral(a) || isTooGeneral(b)) return null
  return a === b ? 0 : (stepsUp(a, b) ?? stepsUp(b, a))
}

/**
 * The CWEs above one in the research view, at most two steps up and never through a class, pillar,
 * category or view.
 */
export function ancestorsOf(cwe: string): string[] {
  return isTooGeneral(cwe) ? [] : levelsAbove(cwe).flat()
}

function stepsUp(from: string, to: string): 1 | 2 | null {
  const level = levelsAbove(from).findIndex((cwes) => cwes.includes(to))
  return level < 0 ? null : ((level + 1) as 1 | 2)
}

function levelsAbove(cwe: string): string[][] {
  const levels: string[][] = []
  let reached = [cwe]
  for (let steps = 1; steps <= STEPS_MAX; steps++) {
    reached = reached.flatMap((each) => WEAKNESSES.get(each)?.parents ?? []).filter((each) => !isTooGeneral(each))
    levels.push(reached)
  }
  return levels
}
