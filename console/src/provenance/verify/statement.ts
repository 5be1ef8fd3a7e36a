import type { Bytes } from './bytes.ts'

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

export const KIND_NAMES: Record<string, string> = {
  [CHANGE_RECORD]: 'Change record',
  'https://shiplock.dev/promotion-path/v1': 'Promotion path',
  'https://slsa.dev/verification_summary/v1': 'Verification summary',
}

/** A statement that lacks what it should have, such as one that was changed. */
const MALFORMED = 'It does not have the form of such a statement.'

export type Json = { readonly [name: string]: unknown }

/** An in-toto statement, as far as the browser needs it. */
export type Statement = {
  subject: { name: string; digest: Record<string, string> }[]
  predicateType: string
  predicate: Json
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

/** `skipped`: this browser cannot do it, or the statement does not have it. */
export type Check = { name: string; outcome: 'passed' | 'failed' | 'skipped'; detail: string }

/** The statement is not accepted. The message tells the reader why. */
export class Refused extends Error {}

/** A check that cannot be done here. */
export class Skipped extends Error {}

/** The checks of one statement, in their order. */
export class Checks {
  readonly results: Check[] = []

  /** Runs a check, which fails by throwing `Refused`. Returns what it found; null if it did not pass. */
  async run<Found>(
    name: string,
    find: () => Found | Promise<Found>,
    describe: (found: Found) => string,
  ): Promise<Found | null> {
    try {
      const found = await find()
      this.results.push({ name, outcome: 'passed', detail: describe(found) })
      return found
    } catch (error) {
      const outcome = error instanceof Skipped ? 'skipped' : 'failed'
      this.results.push({ name, outcome, detail: isReason(error) ? error.message : MALFORMED })
      return null
    }
  }
}

function isReason(error: unknown): error is Error {
  return error instanceof Refused || error instanceof Skipped
}
