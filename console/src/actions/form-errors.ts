import { asApiError } from '../api/api-error.ts'

/** Errors of fields by their names, such as `role_map.0.role`, and what belongs to no field. */
type FormErrors = { fields: Record<string, string>; others: string[] }

type Mistake = { path: string; message: string }

/**
 * Finds the fields that an error response is about. `details.errors[].path` names them as JSON
 * pointers into the body; `fieldsOfCodes` names the field of errors that state no path.
 */
export function findFieldErrors(
  error: unknown,
  hasField: (name: string) => boolean,
  fieldsOfCodes: Record<string, string> = {},
): FormErrors {
  const response = asApiError(error)
  const found: FormErrors = { fields: {}, others: [] }
  if (response === null) return found
  const field = fieldsOfCodes[response.code]
  if (field !== undefined) found.fields[field] = response.message
  for (const { path, message } of mistakesOf(response.details.errors)) {
    const name = nearestField(fieldName(path), hasField)
    if (name === null) found.others.push(`${path.replace(/^\/body\/?/, '')} ${message}`.trim())
    else found.fields[name] ??= asSentence(message)
  }
  return found
}

function mistakesOf(errors: unknown): Mistake[] {
  return Array.isArray(errors) ? errors.filter((mistake) => typeof mistake?.path === 'string') : []
}

/** `/body/role_map/0/role` is `role_map.0.role` (RFC 6901). */
function fieldName(path: string): string {
  const [, ...tokens] = path.split('/').slice(1)
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

/** The field itself, or the one that it is a part of: a list can be one field of a form. */
function nearestField(name: string, hasField: (name: string) => boolean): string | null {
  if (name === '') return null
  return hasField(name) ? name : nearestField(name.split('.').slice(0, -1).join('.'), hasField)
}

/** "must not be empty" as the error of a field: "Must not be empty." */
function asSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
