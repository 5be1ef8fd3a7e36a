import type { Bytes } from './bytes.ts'
import { Refused } from './checks.ts'

export type Json = { readonly [name: string]: unknown }

/** An in-toto statement, as far as the browser needs it. */
export type Statement = {
  subject: { name: string; digest: Record<string, string> }[]
  predicateType: string
  predicate: Json
}

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

export const KIND_NAMES: Record<string, string> = {
  [CHANGE_RECORD]: 'Change record',
  'https://shiplock.dev/promotion-path/v1': 'Promotion path',
  'https://slsa.dev/verification_summary/v1': 'Verification summary',
}

export function readStatement(payload: Bytes): Statement {
  const statement = parse(payload)
  if (statement._type !== STATEMENT_TYPE) throw new Refused('The payload is not an in-toto statement.')
  const { subject, predicateType, predicate } = statement as unknown as Partial<Statement>
  if (!Array.isArray(subject) || typeof predicateType !== 'string' || typeof predicate !== 'object')
    throw new Refused('The in-toto statement lacks its subject or its predicate.')
  return { subject, predicateType, predicate }
}

function parse(payload: Bytes): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch {
    throw new Refused('The payload is not JSON.')
  }
}

/** The commit that a statement is about. Every statement has exactly one. */
export function commitOf({ subject }: Statement): { name: string; sha: string } {
  const commits = subject.flatMap(({ name, digest }) => (digest?.gitCommit ? [{ name, sha: digest.gitCommit }] : []))
  const [commit] = commits
  if (commit === undefined || commits.length > 1) throw new Refused('The statement does not name one commit.')
  return commit
}
