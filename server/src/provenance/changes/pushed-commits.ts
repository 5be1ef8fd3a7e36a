/** A commit with what a rebase keeps of it. */
export type PushedCommit = { sha: string; message: string; author: { name: string; email: string | null } }

export type MergedPull = {
  number: number
  merge_commit_sha: string | null
  /** Those of the pushed commits that were its newest commit at some time. */
  heads: readonly string[]
  /** Null: unknown. */
  commits: readonly PushedCommit[] | null
}

type Assigned = {
  /** The pushed commits of each pull request. */
  landed: ReadonlyMap<number, ReadonlySet<string>>
  /** Those that landed with no pull request, oldest first. */
  rest: string[]
}

/**
 * Which commits of a push landed with which merged pull request. A pull request brings the commit
 * that its merge created and its own commits. A rebase creates them anew, right before the last one
 * and with the same message and author. Where the commits of a pull request are unknown, all
 * commits up to its merge are taken for its own.
 */
export function assignCommits(pushed: readonly PushedCommit[], pulls: readonly MergedPull[]): Assigned {
  const owner = new Map<string, number>()
  for (const pull of pulls) {
    for (const sha of [pull.merge_commit_sha, ...pull.heads, ...(pull.commits ?? []).map((commit) => commit.sha)])
      if (sha !== null && !owner.has(sha)) owner.set(sha, pull.number)
  }
  for (const pull of pulls) assignRecreated(pushed, pull, owner)
  const landed = new Map(
    pulls.map(({ number }) => {
      const own = pushed.filter(({ sha }) => owner.get(sha) === number)
      return [number, new Set(own.map(({ sha }) => sha))]
    }),
  )
  return { landed, rest: pushed.filter(({ sha }) => !owner.has(sha)).map(({ sha }) => sha) }
}

/** Assigns the commits right before the merge that a rebase has created from the pull request's. */
function assignRecreated(pushed: readonly PushedCommit[], pull: MergedPull, owner: Map<string, number>): void {
  const merge = pushed.findIndex(({ sha }) => sha === pull.merge_commit_sha)
  const origins = pull.commits === null ? null : [...pull.commits]
  const last = pushed[merge]
  if (origins !== null && last !== undefined) takeOrigin(origins, last)
  for (let at = merge - 1; at >= 0; at -= 1) {
    const commit = pushed[at] as PushedCommit
    if (owner.has(commit.sha)) return
    if (origins !== null && !takeOrigin(origins, commit)) return
    owner.set(commit.sha, pull.number)
  }
}

/** Removes the commit that this one was created from. Returns whether there is one. */
function takeOrigin(origins: PushedCommit[], { message, author }: PushedCommit): boolean {
  const at = origins.findIndex(
    (origin) =>
      origin.message === message && origin.author.name === author.name && origin.author.email === author.email,
  )
  if (at >= 0) origins.splice(at, 1)
  return at >= 0
}
