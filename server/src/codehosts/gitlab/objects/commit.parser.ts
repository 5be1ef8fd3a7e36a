import { Type } from 'typebox'
import type { HostChangeCommit } from '../../host-change.ts'
import { Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'

const Commit = Type.Object({
  id: Text,
  message: Maybe(Text),
  author_name: Maybe(Text),
  author_email: Maybe(Text),
  committer_name: Maybe(Text),
  committer_email: Maybe(Text),
})

/** GitLab does not say which accounts the addresses belong to. */
export function parseChangeCommit(value: unknown): HostChangeCommit {
  const commit = readAs(Commit, value)
  return {
    sha: commit.id,
    message: textOrNull(commit.message) ?? '',
    author: personOf(commit.author_name, commit.author_email),
    committer: personOf(commit.committer_name, commit.committer_email),
    signature: null,
  }
}

function personOf(name: string | null | undefined, email: string | null | undefined): HostChangeCommit['author'] {
  return { name: textOrNull(name) ?? '', email: textOrNull(email), id: null, login: null }
}

const Signature = Type.Object({ verification_status: Maybe(Text) })
/** `verified_system`: signed by GitLab itself. `verified_ca`: by a certificate of an instance. */
const VERIFIED = ['verified', 'verified_system', 'verified_ca']
const UNSIGNED = { verified: false, reason: 'unsigned' }

/** `value` is null for a commit without a signature. */
export function parseSignature(value: unknown): { verified: boolean; reason: string } {
  if (value === null) return UNSIGNED
  const status = textOrNull(readAs(Signature, value).verification_status) ?? 'unknown'
  return { verified: VERIFIED.includes(status), reason: status }
}
