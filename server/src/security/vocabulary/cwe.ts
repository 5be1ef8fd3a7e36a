import catalog from './cwe-research-view.json' with { type: 'json' }

const CWE = /\bcwe(?:[-_: ]?|\.mitre\.org\/data\/definitions\/)0*(\d{1,5})(?!\d)/gi
const TEXT_READ_MAX = 500
const CWES_MAX = 20

/**
 * The CWE ids in these texts as `CWE-79`, in order, without duplicates. Tools write them as
 * `external/cwe/cwe-079`, `CWE-79: Improper …` or `cwe:79`.
 */
export function collectCwes(texts: readonly string[]): string[] {
  const cwes = new Set<string>()
  for (const text of texts) {
    for (const match of text.slice(0, TEXT_READ_MAX).matchAll(CWE)) cwes.add(`CWE-${match[1]}`)
    if (cwes.size >= CWES_MAX) break
  }
  return [...cwes].slice(0, CWES_MAX)
}

/** The text of a member that contains a CWE id, which may be the bare number. */
export function toCweText(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return /^\d+$/.test(text) ? `CWE-${text}` : text
}

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
 * The CWEs above one in the research view, at most two steps up and never through a class, pillar,
 * category or view.
 */
export function listAncestors(cwe: string): string[] {
  if (isTooGeneral(cwe)) return []
  const ancestors: string[] = []
  let reached = [cwe]
  for (let steps = 1; steps <= STEPS_MAX; steps++) {
    reached = reached.flatMap((each) => WEAKNESSES.get(each)?.parents ?? []).filter((each) => !isTooGeneral(each))
    ancestors.push(...reached)
  }
  return ancestors
}
