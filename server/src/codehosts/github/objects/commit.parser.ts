import { type Static, Type } from 'typebox'
import type { HostChangeCommit } from '../../host-change.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'

/** Name and address as the commit itself has them. */
const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text) })

/** The account of the address: null, or an object without fields, if it belongs to none. */
const LinkedAccount = Type.Object({ id: Maybe(Id), login: Maybe(Text) })

const Commit = Type.Object({
  sha: Text,
  commit: Type.Object({
    message: Maybe(Text),
    author: Maybe(Person),
    committer: Maybe(Person),
    verification: Maybe(Type.Object({ verified: Type.Boolean(), reason: Maybe(Text) })),
  }),
  author: Maybe(LinkedAccount),
  committer: Maybe(LinkedAccount),
})

export function parseChangeCommit(value: unknown): HostChangeCommit {
  const { sha, commit, author, committer } = readAs(Commit, value)
  const { verification } = commit
  return {
    sha,
    message: textOrNull(commit.message) ?? '',
    author: personOf(commit.author, author),
    committer: personOf(commit.committer, committer),
    signature: verification
      ? { verified: verification.verified, reason: textOrNull(verification.reason) ?? 'unknown' }
      : null,
  }
}

function personOf(
  person: Static<typeof Person> | null | undefined,
  account: Static<typeof LinkedAccount> | null | undefined,
): HostChangeCommit['author'] {
  return {
    name: textOrNull(person?.name) ?? '',
    email: textOrNull(person?.email),
    id: account?.id ? String(account.id) : null,
    login: textOrNull(account?.login),
  }
}
