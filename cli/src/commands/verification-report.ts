import type { Verification } from './verify-document.ts'

/** Writes a verification for a reader. Uses colours only on a terminal that wants them. */
export function reportOf({ verified, checks, warnings, statement }: Verification, isTerminal: boolean): string {
  const paint = isTerminal && !process.env.NO_COLOR ? colour : (text: string) => text
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = [
    ...checks.map(({ name, ok, detail }) => {
      const result = ok ? paint('ok    ', GREEN) : paint('failed', RED)
      return `${result}  ${name.padEnd(width)}  ${printable(detail)}`
    }),
    ...warnings.map((warning) => `${paint('note', YELLOW)}    ${printable(warning)}`),
    '',
    ...(statement?.says ?? []).map(printable),
    verified ? paint('Verified.', GREEN) : paint('Refused: the statement is not verified.', RED),
  ]
  return `${lines.join('\n')}\n`
}

const GREEN = 32
const RED = 31
const YELLOW = 33

function colour(text: string, code: number): string {
  return `\x1b[${code}m${text}\x1b[0m`
}

export function printableJson(verification: Verification): string {
  return `${printable(JSON.stringify(verification))}\n`
}

/**
 * Control characters, also those that change the direction of text. A statement quotes titles and
 * names that anybody can choose, and a terminal would execute them.
 */
const CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Replaces control characters with their JSON escapes. */
function printable(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
