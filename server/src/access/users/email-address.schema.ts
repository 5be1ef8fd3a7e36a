import { Type } from 'typebox'
import { EMAIL_CHARS_MAX, EMAIL_FORM } from './email-address.ts'

/** An email address in a request. It is stored in lower case. */
export const EmailAddress = Type.String({
  pattern: EMAIL_FORM,
  maxLength: EMAIL_CHARS_MAX,
  description: 'An email address.',
})
