import { createHash } from 'node:crypto'
import type { HostChangeCommit } from '../codehosts/host-change.ts'
import { DOMAIN } from './world/company.ts'
import type { Demo } from './world/demo.ts'

/** The SHA of a commit, always the same for the same text. */
export function computeSha(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

const SUBJECTS = [
  'Round totals before tax is added',
  'Retry the carrier lookup once',
  'Show the delivery window in local time',
  'Cache the price list per market',
  'Reject orders without a postal code',
  'Move the session store to Valkey',
  'Log the carrier id with each booking',
  'Drop the unused parcel-size column',
  'Speed up the address search',
  'Handle partial refunds',
  'Update dependencies',
  'Limit login attempts per account',
  'Read the feature flags once per request',
  'Validate webhook signatures in constant time',
  'Fix the empty basket after sign-in',
  'Add tracing to the booking path',
  'Return 404 for unknown parcels',
  'Make the label printer queue durable',
  'Test the currency conversion of returns',
  'Remove the legacy rate limiter',
  'Shorten the cold start of the worker',
  'Support pick-up points in Finland',
  'Escape customer notes in the PDF',
  'Index shipments by customer and day',
] as const

/** The subject of the n-th change of a repository. */
export function selectSubject(random: Demo['random'], number: number): string {
  return SUBJECTS[(number * 7 + random.below(3)) % SUBJECTS.length] as string
}

type Commit = { sha: string; login: string; message: string; signed: boolean }

/** A commit as the code host lists it. */
export function makeChangeCommit(demo: Demo, { sha, login, message, signed }: Commit): HostChangeCommit {
  const { id, name } = demo.account(login)
  const person = { name: name ?? login, email: `${login}@${DOMAIN}`, id, login }
  const signature = { verified: signed, reason: signed ? 'valid' : 'unsigned' }
  return { sha, message, author: person, committer: person, signature }
}
