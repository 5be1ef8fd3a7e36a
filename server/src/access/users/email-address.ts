import { Type } from 'typebox'
import { ApiError } from '../../platform/http/errors.ts'

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** The form that browsers accept (HTML standard, "valid email address"): ASCII only. */
const FORM = `^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${LABEL}(?:\\.${LABEL})*$`
const CHARS_MAX = 254

/** An email address in a request. It is stored in lower case. */
export const EmailAddress = Type.String({ pattern: FORM, maxLength: CHARS_MAX, description: 'An email address.' })

const PATTERN = new RegExp(FORM)

/** Returns the stored form, which identifies an account; null if the text is not an address. */
export function toEmail(text: string): string | null {
  const trimmed = text.trim()
  return trimmed.length <= CHARS_MAX && PATTERN.test(trimmed) ? trimmed.toLowerCase() : null
}

/** The same. Throws 400. */
export function requireEmail(text: string): string {
  const email = toEmail(text)
  if (email !== null) return email
  throw new ApiError(400, 'invalid_request', `"${text.slice(0, 80)}" is not an email address`)
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}
