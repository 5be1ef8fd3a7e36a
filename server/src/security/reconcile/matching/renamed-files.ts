import { groupIndexes, type Matching } from './matching.ts'
import { type FilePair, type RenameCandidate, RenameEvidence } from './rename-evidence.ts'

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

/** A folder whose files have a new path from its beginning on. */
type FolderRename = FilePair & { score: number; files: number }

const FILES_MIN = 2
/** The evidence by which a single file shows that its folder was renamed. */
const SCORE_MIN = 3

/**
 * The renamed files that follow from renamed folders. Files that kept their names show together
 * that a folder was renamed, which then holds for the rest of its files.
 */
function matchRenamedFolders(
  candidates: readonly RenameCandidate[],
  vanished: readonly string[],
  appeared: ReadonlySet<string>,
): FilePair[] {
  const folders = folderRenames(candidates).sort((a, b) => b.score - a.score)
  return folders.flatMap(({ from, to }) =>
    vanished.flatMap((path) => {
      const target = path.startsWith(from) ? to + path.slice(from.length) : null
      return target !== null && appeared.has(target) ? [{ from: path, to: target }] : []
    }),
  )
}

function folderRenames(candidates: readonly RenameCandidate[]): FolderRename[] {
  const renames = new Map<string, FolderRename>()
  for (const candidate of candidates) {
    const folder = candidate.isAlike ? changedFolder(candidate) : null
    if (folder === null) continue
    const key = `${folder.from}\n${folder.to}`
    const rename = renames.get(key) ?? { ...folder, score: 0, files: 0 }
    rename.score += candidate.score
    rename.files++
    renames.set(key, rename)
  }
  return [...renames.values()].filter(({ score, files }) => score >= SCORE_MIN && files >= FILES_MIN)
}

/** Both paths without the last names that they have in common; null if there are none. */
function changedFolder({ from, to }: FilePair): FilePair | null {
  const names = from.split('/')
  const others = to.split('/')
  let common = 0
  while (common < Math.min(names.length, others.length) && names.at(-1 - common) === others.at(-1 - common)) common++
  if (common === 0) return null
  return { from: getFolder(names, common), to: getFolder(others, common) }
}

function getFolder(names: readonly string[], common: number): string {
  return names
    .slice(0, names.length - common)
    .map((name) => `${name}/`)
    .join('')
}
