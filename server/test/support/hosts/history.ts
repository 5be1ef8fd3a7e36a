/** The parts of a repository that its history needs. */
export type History<C extends HistoryCommit = HistoryCommit> = {
  commits: Map<string, C>
  refs: Map<string, string>
}
export type HistoryCommit = { sha: string; parents: string[]; files: ReadonlyMap<string, string> }
type Compared = { merged_onto: string | null; base: { ref: string }; head: { sha: string } }

export type ChangedFile = {
  path: string
  /** The path before a move. */
  former: string | null
  /** Null if the file was removed. */
  text: string | null
  status: 'added' | 'removed' | 'modified' | 'renamed'
}

/** The whole name of a branch. */
export function refOf(branch: string): string {
  return branch.startsWith('refs/') ? branch : `refs/heads/${branch}`
}

/** The SHAs of a commit and of all commits before it. */
function historyOf(repository: History, sha: string | null | undefined): Set<string> {
  const found = new Set<string>()
  const open = sha ? [sha] : []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(repository.commits.get(next)?.parents ?? []))
  }
  return found
}

/** The commits of `head` that `base` does not have, oldest first. */
export function commitsBetween<C extends HistoryCommit>(
  repository: History<C>,
  base: string | null | undefined,
  head: string,
): C[] {
  const known = historyOf(repository, base)
  const wanted = historyOf(repository, head)
  return [...repository.commits.values()].filter(({ sha }) => wanted.has(sha) && !known.has(sha))
}

/** The newest commit that both have. */
export function mergeBaseOf<C extends HistoryCommit>(
  repository: History<C>,
  one: string | null | undefined,
  other: string,
): C | undefined {
  const known = historyOf(repository, one)
  const shared = historyOf(repository, other)
  return [...repository.commits.values()].findLast(({ sha }) => known.has(sha) && shared.has(sha))
}

/** The tip of the base branch that a pull request is compared with. */
function baseTipOf(repository: History, { merged_onto, base }: Compared): string | undefined {
  return merged_onto ?? repository.refs.get(refOf(base.ref))
}

export function commitsOf<C extends HistoryCommit>(repository: History<C>, pullRequest: Compared): C[] {
  return commitsBetween(repository, baseTipOf(repository, pullRequest), pullRequest.head.sha)
}

/** What a pull request changes since its branch left the base branch. */
export function changedFilesOf(repository: History, pullRequest: Compared): ChangedFile[] {
  const { sha } = pullRequest.head
  return changedFiles(repository, mergeBaseOf(repository, baseTipOf(repository, pullRequest), sha), sha)
}

export function changedFiles(repository: History, from: HistoryCommit | undefined, head: string): ChangedFile[] {
  const before = from?.files ?? new Map<string, string>()
  const after = repository.commits.get(head)?.files ?? new Map<string, string>()
  const removed = new Map([...before].filter(([path]) => !after.has(path)))
  const changed = [...after].flatMap(([path, text]): ChangedFile[] => {
    if (before.get(path) === text) return []
    if (before.has(path)) return [{ path, former: null, text, status: 'modified' }]
    const former = [...removed].find(([, content]) => content === text)?.[0] ?? null
    if (former !== null) removed.delete(former)
    return [{ path, former, text, status: former === null ? 'added' : 'renamed' }]
  })
  const gone = [...removed.keys()].map((path): ChangedFile => ({ path, former: null, text: null, status: 'removed' }))
  return [...changed, ...gone].sort((one, other) => (one.path < other.path ? -1 : 1))
}
