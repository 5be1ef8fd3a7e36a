import { importsOf, isJobsWork, resolvePath, type Source } from './source-imports.ts'
import { GROUND } from './source-rules.ts'

/**
 * Groups of files that import each other, and of folders (the files directly in each) that do. The
 * files of the ground belong to no folder.
 */
export function importCycles(sources: Source[]): string[] {
  const files = new Map(sources.map((source) => [source.path, targetsOf(source)]))
  const folders = new Map<string, string[]>()
  for (const [path, targets] of files) {
    const folder = folderOf(path)
    // The files at the root of src put the program together from all folders.
    if (folder === '') continue
    const others = targets.map(folderOf).filter((other) => other !== folder && other !== '')
    folders.set(folder, [...(folders.get(folder) ?? []), ...others])
  }
  return [...cyclesIn(files), ...cyclesIn(folders)].map((names) => `these import each other: ${names.join(', ')}`)
}

function targetsOf({ path, text }: Source): string[] {
  const relative = importsOf(text).filter((found) => found.specifier.startsWith('.') && !isJobsWork(path, found))
  return relative.map(({ specifier }) => resolvePath(path, specifier))
}

function folderOf(path: string): string {
  if (GROUND.includes(path)) return ''
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/** Every node is compared with what it reaches: the graph is small enough. */
function cyclesIn(graph: Map<string, string[]>): string[][] {
  const reach = new Map([...graph.keys()].map((node) => [node, reachableFrom(node, graph)]))
  const seen = new Set<string>()
  return [...graph.keys()].flatMap((node) => {
    if (seen.has(node) || !reach.get(node)?.has(node)) return []
    const cycle = [...graph.keys()].filter((other) => reach.get(node)?.has(other) && reach.get(other)?.has(node))
    for (const member of cycle) seen.add(member)
    return [cycle.sort()]
  })
}

function reachableFrom(start: string, graph: Map<string, string[]>): Set<string> {
  const reached = new Set<string>()
  const next = [...(graph.get(start) ?? [])]
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    next.push(...(graph.get(node) ?? []))
  }
  return reached
}
