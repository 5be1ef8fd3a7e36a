import { createHash } from 'node:crypto'
import type { Account, Commit, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

export type CommitFields = {
  message?: string
  /** Login of the author; null: the address of the author belongs to no account. */
  author?: string | null
  /** Login of the committer, the author by default. */
  committer?: string | null
  /** GitHub's reason for its verdict on the signature, such as `valid`; `unsigned` by default. */
  signature?: string
  /** Files that the commit adds or changes; null removes one. */
  files?: Record<string, string | null>
}

/** Adds a commit to the files of its first parent. No branch has it yet. */
export function addCommit(world: World, repository: Repository, parents: string[], fields: CommitFields): Commit {
  const message = fields.message ?? 'Change the shop'
  const { author = 'ada', committer = author, files = {} } = fields
  const account = author === null ? null : world.state.account(author)
  const committerAccount = committer === null ? null : world.state.account(committer)
  const commit: Commit = {
    sha: createHash('sha1').update(`${world.state.newId()} ${message}`).digest('hex'),
    message,
    author: personOf(account),
    account,
    committer: personOf(committerAccount),
    committerAccount,
    signature: fields.signature ?? 'unsigned',
    at: world.now(),
    parents,
    files: withChanges(repository.commits.get(parents[0] ?? '')?.files, files),
    changed: Object.keys(files),
  }
  repository.commits.set(commit.sha, commit)
  return commit
}

function personOf(account: Account | null): Commit['author'] {
  if (account === null) return { name: 'Unknown', email: 'unknown@example.com' }
  return { name: account.name ?? account.login, email: emailOf(account) }
}

/** GitHub's description allows no brackets in addresses, which the addresses of bots have. */
export function emailOf({ email, login }: Account): string {
  return email ?? `${login.replace('[bot]', '').toLowerCase()}@example.com`
}

function withChanges(before: Commit['files'] | undefined, changes: Record<string, string | null>): Commit['files'] {
  const files = new Map(before)
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) files.delete(path)
    else files.set(path, text)
  }
  return files
}

/** GitHub commits and signs what is merged on its pages, except rebased commits. */
export function signedByGithub({ state }: World): Pick<CommitFields, 'committer' | 'signature'> {
  const login = 'web-flow'
  if (!state.accounts.has(login))
    state.addAccount({ login, type: 'User', id: 19864447, name: 'GitHub', email: 'noreply@github.com' })
  return { committer: login, signature: 'valid' }
}
