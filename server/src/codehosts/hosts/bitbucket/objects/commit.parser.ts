import { type Static, Type } from 'typebox'
import type { HostChangeCommit } from '../../../host-change.ts'
import { Maybe, readAs, Text, Timestamp, textOrNull } from '../../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'

/** `raw`: name and address as the commit itself has them: `Ada <ada@example.com>`. */
const Author = Type.Object({ raw: Maybe(Text), user: Maybe(Account) })

export const Commit = Type.Object({
  hash: Text,
  date: Maybe(Timestamp),
  message: Maybe(Text),
  author: Maybe(Author),
  committer: Maybe(Author),
})

/** Where Bitbucket does not name the committer, the author stands for it. */
export function parseChangeCommit(value: unknown): HostChangeCommit {
  const commit = readAs(Commit, value)
  return {
    sha: commit.hash,
    message: textOrNull(commit.message) ?? '',
    author: personOf(commit.author),
    committer: personOf(commit.committer ?? commit.author),
    signature: null,
  }
}

const RAW = /^\s*(.*?)\s*<([^<>]*)>\s*$/s

function personOf(author: Static<typeof Author> | null | undefined): HostChangeCommit['author'] {
  const [, name, email] = RAW.exec(author?.raw ?? '') ?? []
  const account = accountOf(author?.user)
  return {
    name: textOrNull(name ?? author?.raw) ?? '',
    email: textOrNull(email),
    id: account?.id ?? null,
    login: account?.login ?? null,
  }
}
