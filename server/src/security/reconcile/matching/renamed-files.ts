import { groupIndexes, type Matching } from './matching.ts'
import { type FilePair, RenameEvidence } from './rename-evidence.ts'
import { matchRenamedFolders } from './renamed-folders.ts'

/** The files that were renamed: all findings left an old path and arrived at a new one. */
export function matchRenamedFiles(matching: Matching): FilePair[] {
  const vanished = pathsOfOneSide(matching, 'stored', 'reported')
  const appeared = pathsOfOneSide(matching, 'reported', 'stored')
  if (vanished.size === 0 || appeared.size === 0) return []
  const candidates = new RenameEvidence(matching, vanished, appeared).candidates()
  const paths = new OneToOne()
  for (const pair of matchRenamedFolders(candidates, [...vanished.keys()], new Set(appeared.keys()))) paths.add(pair)
  for (const pair of candidates.sort((a, b) => b.score - a.score)) if (pair.isLikely) paths.add(pair)
  return paths.pairs
}

/** The findings of paths that only one side has, by path. */
function pathsOfOneSide(matching: Matching, side: 'stored' | 'reported', other: 'stored' | 'reported') {
  const known = new Set(matching[other].map(({ path }) => path))
  const indexes = [...matching[side].keys()]
  return groupIndexes(indexes, (index) => {
    const path = matching[side][index]?.path ?? null
    return known.has(path) ? null : path
  })
}

class OneToOne {
  readonly pairs: FilePair[] = []
  readonly #from = new Set<string>()
  readonly #to = new Set<string>()

  add({ from, to }: FilePair): void {
    if (this.#from.has(from) || this.#to.has(to)) return
    this.#from.add(from)
    this.#to.add(to)
    this.pairs.push({ from, to })
  }
}
