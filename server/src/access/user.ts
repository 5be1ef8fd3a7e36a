import { type AuditEntry, insertAuditEntry } from '../audit/audit.store.ts'
import type { Tx } from '../platform/db/sql.ts'
import { createInvalidFieldError, invalidRequest } from '../platform/http/errors.ts'
import { isDisplayName, toDisplayName } from '../platform/text.ts'
import { type AccountScope, findUserName, listOwnOrganizations } from './user.store.ts'

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** The form that browsers accept (HTML standard, "valid email address"): ASCII only. */
export const EMAIL_FORM = `^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${LABEL}(?:\\.${LABEL})*$`
export const EMAIL_CHARS_MAX = 254

const PATTERN = new RegExp(EMAIL_FORM)

/** Returns the stored form, which identifies an account; null if the text is not an address. */
export function toEmail(text: string): string | null {
  const trimmed = text.trim()
  return trimmed.length <= EMAIL_CHARS_MAX && PATTERN.test(trimmed) ? trimmed.toLowerCase() : null
}

/** The same. Throws 400. */
export function requireEmail(text: string): string {
  const email = toEmail(text)
  if (email !== null) return email
  throw invalidRequest(`"${text.slice(0, 80)}" is not an email address`)
}

export function getEmailDomain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}

const CHARS_MAX = 100

/** Trims and validates the name of a person. Throws 400. */
export function requireUserName(name: string): string {
  const trimmed = name.trim()
  if (isDisplayName(trimmed, CHARS_MAX)) return trimmed
  throw createInvalidFieldError('/body/name', `must have 1 to ${CHARS_MAX} characters, and no control characters`)
}

/**
 * Names a person where they decide something. Two people may have the same name, and a name could
 * look like one with an address.
 */
export function formatPerson(name: string, email: string): string {
  return `${name.replaceAll(/[<>]/g, '')} <${email}>`
}

/** Makes a name of the first text that has characters to show. */
export function toUserName(texts: readonly string[]): string {
  return texts.map((text) => toDisplayName(text, CHARS_MAX)).find((name) => name !== '') ?? ''
}

/**
 * Records what users do with their own account. An account belongs to no organization, so that the
 * entry is added to the audit log of each organization that the user can open, up to 100. What
 * concerns only one organization is added to its log alone.
 */
export async function auditPerson(
  tx: Tx,
  { user_id, org_id }: AccountScope,
  entry: Pick<AuditEntry, 'action' | 'object' | 'details'>,
  now: Date,
): Promise<void> {
  const name = (await findUserName(tx, user_id)) ?? ''
  const principal = { type: 'user', id: user_id, name } as const
  const own = org_id ? [org_id] : (await listOwnOrganizations(tx, user_id)).map(({ id }) => id)
  for (const id of own) {
    await insertAuditEntry(tx, id, { ...entry, principal, reason: null }, now)
  }
}
