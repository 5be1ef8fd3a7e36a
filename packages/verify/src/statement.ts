import { sha256 } from '#crypto'
import { type Bytes, toHex } from './bytes.ts'
import { Refused } from './checks.ts'
import { Fields } from './fields.ts'
import { parseStrictJson } from './strict-json.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'

/** `annotations` name who stated a subject that is not verified. */
export type Subject = { name: string; digest: Record<string, string>; annotations?: { trust: string } }

/** An in-toto Statement v1. */
export type Statement = { subjects: Subject[]; predicateType: string; predicate: Fields }

const HEX_LENGTHS: Record<string, number[]> = { sha256: [64], gitCommit: [40, 64] }
const HEX = /^[0-9a-f]+$/

export function readStatement(payload: Bytes): Statement {
  const fields = new Fields(parseStrictJson(payload, 'the payload'), '')
  if (fields.string('_type') !== STATEMENT_TYPE) throw fields.refusal('_type', STATEMENT_TYPE)
  const subjects = fields.objects('subject').map(readSubject)
  if (subjects.length === 0) throw fields.refusal('subject', 'a list of at least one subject')
  return { subjects, predicateType: fields.string('predicateType'), predicate: fields.object('predicate') }
}

/** The digest of a payload in the form of the API: `sha256:` and hexadecimal digits. */
export async function digestOf(payload: Bytes): Promise<string> {
  return `sha256:${toHex(await sha256(payload))}`
}

function readSubject(fields: Fields): Subject {
  const digest = fields.object('digest')
  const entries = Object.keys(digest.json).map((algorithm) => [algorithm, readDigest(digest, algorithm)])
  if (entries.length === 0) throw fields.refusal('digest', 'an object with at least one digest')
  const subject = { name: fields.string('name'), digest: Object.fromEntries(entries) }
  if (!fields.has('annotations')) return subject
  return { ...subject, annotations: { trust: fields.object('annotations').string('trust') } }
}

function readDigest(digest: Fields, algorithm: string): string {
  const hex = digest.string(algorithm, { pattern: HEX, what: 'lower-case hexadecimal digits' })
  const lengths = HEX_LENGTHS[algorithm]
  if (lengths !== undefined && !lengths.includes(hex.length))
    throw digest.refusal(algorithm, `${lengths.join(' or ')} hexadecimal digits`)
  return hex
}

/** A commit that is a subject, and who named it if it is not verified. */
export type CommitSubject = { name: string; sha: string; trust: string | null }

/** The commit that a statement is about; null without one. */
export function findCommitSubject({ subjects }: Statement): CommitSubject | null {
  const commits = subjects.flatMap(({ name, digest, annotations }) =>
    digest.gitCommit ? [{ name, sha: digest.gitCommit, trust: annotations?.trust ?? null }] : [],
  )
  if (commits.length > 1) throw new Refused('the statement must have one commit as a subject')
  return commits[0] ?? null
}

/** The commit that a statement is about, which has one. */
export function commitSubject(statement: Statement): CommitSubject {
  const commit = findCommitSubject(statement)
  if (commit === null) throw new Refused('the statement must have one commit as a subject')
  return commit
}
