import { readdirSync, readFileSync } from 'node:fs'

/** A process and all its descendants (Linux), parents first. */
export function processTree(root: number): number[] {
  const childrenOf = Map.groupBy(listProcesses(), ({ parent }) => parent)
  const tree = [root]
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []).map((child) => child.pid))
  return tree
}

/** Processes that end while they are listed are left out. */
function listProcesses(): { pid: number; parent: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const parent = parentOf(name)
      return parent === null ? [] : [{ pid: Number(name), parent }]
    })
}

/**
 * The parent is the second field after the name, which is in parentheses and can contain anything.
 */
function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}
