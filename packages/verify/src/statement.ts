import { sha256 } from '#crypto'
import { type Bytes, toHex } from './bytes.ts'
import { Refused } from './checks.ts'
import { Fields } from './fields.ts'
import { parseStrictJson } from './strict-json.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'

export type Subject = { name: string; digest: Record<string, string> }

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
  return { name: fields.string('name'), digest: Object.fromEntries(entries) }
}

function readDigest(digest: Fields, algorithm: string): string {
  const hex = digest.string(algorithm, { pattern: HEX, what: 'lower-case hexadecimal digits' })
  const lengths = HEX_LENGTHS[algorithm]
  if (lengths !== undefined && !lengths.includes(hex.length))
    throw digest.refusal(algorithm, `${lengths.join(' or ')} hexadecimal digits`)
  return hex
}

/** The commit that a statement is about. Every statement of Shiplock has one. */
export function commitSubject({ subjects }: Statement): { name: string; sha: string } {
  const commits = subjects.flatMap(({ name, digest }) => (digest.gitCommit ? [{ name, sha: digest.gitCommit }] : []))
  const [commit, ...others] = commits
  if (commit === undefined || others.length > 0) throw new Refused('the statement must have one commit as a subject')
  return commit
}
