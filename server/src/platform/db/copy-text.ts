export type CopyValue = string | number | boolean | null | Buffer | readonly string[]

const NULL = '\\N'

/** Formats the fields of one row as COPY text ("COPY", "Text Format"), without the line break. */
export function copyFields(values: readonly CopyValue[]): string {
  return values.map(copyField).join('\t')
}

export function copyField(value: CopyValue): string {
  if (value === null) return NULL
  if (typeof value === 'string') return escapeField(value)
  if (typeof value !== 'object') return String(value)
  if (Buffer.isBuffer(value)) return copyBytes(value.toString('hex'))
  return value.length === 0 ? '{}' : escapeField(`{${value.map(toArrayElement).join(',')}}`)
}

/** Formats bytes that are given in hex. */
export function copyBytes(hex: string | null): string {
  return hex === null ? NULL : `\\\\x${hex}`
}

const SPECIAL = /[\\\t\n\r]/
const EVERY_SPECIAL = /[\\\t\n\r]/g
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escapeField(text: string): string {
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (character) => ESCAPES[character] as string) : text
}

function toArrayElement(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
