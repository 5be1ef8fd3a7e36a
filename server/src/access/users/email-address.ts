import { invalidRequest } from '../../platform/http/errors.ts'

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
