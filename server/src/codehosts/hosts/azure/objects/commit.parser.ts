import { type Static, Type } from 'typebox'
import type { HostChangeCommit } from '../../../host-change.ts'
import { Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'

/** Name and address as the commit has them. Azure DevOps does not match them with accounts. */
const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text) })

const Commit = Type.Object({
  commitId: Text,
  comment: Maybe(Text),
  commentTruncated: Maybe(Type.Boolean()),
  author: Maybe(Person),
  committer: Maybe(Person),
})
export type Commit = Static<typeof Commit>

export function parseCommit(value: unknown): Commit {
  return readAs(Commit, value)
}

/** Azure DevOps does not check signatures. */
export function changeCommitOf({ commitId, comment, author, committer }: Commit): HostChangeCommit {
  return {
    sha: commitId,
    message: textOrNull(comment) ?? '',
    author: personOf(author),
    committer: personOf(committer),
    signature: null,
  }
}

function personOf(person: Static<typeof Person> | null | undefined): HostChangeCommit['author'] {
  return { name: textOrNull(person?.name) ?? '', email: textOrNull(person?.email), id: null, login: null }
}
