import { printable } from '@shiplock/command-line/printable'
import type { Verification } from '@shiplock/verify/verify-document'

/**
 * Writes a verification for a reader. `columns` is the width of the terminal, null if there is
 * none: only on a terminal, long lines are wrapped, and colours are used unless the reader refuses
 * them.
 */
export function reportOf({ verified, checks, warnings, statement }: Verification, columns: number | null): string {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines: Line[] = [
    ...checks.map(({ name, ok, detail }): Line => {
      const [mark, colour] = ok ? ['ok', GREEN] : ['failed', RED]
      return { mark, colour, text: `${mark.padEnd(MARK_WIDTH)}${name.padEnd(width)}  ${detail}` }
    }),
    ...warnings.map((warning): Line => ({ mark: 'note', colour: YELLOW, text: `note    ${warning}` })),
    plain(''),
    ...(statement?.says ?? []).map(plain),
    verified ? verdict('Verified.', GREEN) : verdict('Refused: the statement is not verified.', RED),
  ]
  return `${lines.map((line) => writeLine(line, columns)).join('\n')}\n`
}

/** `mark` is the beginning of the text that is coloured. */
type Line = { mark: string; colour: number; text: string }

const MARK_WIDTH = 8
const plain = (text: string): Line => ({ mark: '', colour: 0, text })
const verdict = (text: string, colour: number): Line => ({ mark: text, colour, text })

function writeLine({ mark, colour, text }: Line, columns: number | null): string {
  if (columns === null) return printable(text)
  const wrapped = wrap(printable(text), columns)
  if (process.env.NO_COLOR || mark === '') return wrapped
  return `\x1b[${colour}m${mark}\x1b[0m${wrapped.slice(mark.length)}`
}

const INDENT = ' '.repeat(MARK_WIDTH)

/** Breaks a line between words. A word that is too long stays in one piece. */
function wrap(line: string, columns: number): string {
  const lines = ['']
  for (const word of line.match(/(?<! ) *[^ ]+/g) ?? []) {
    const extended = `${lines.at(-1)}${word}`
    if (extended.length <= columns || lines.at(-1) === '') lines[lines.length - 1] = extended
    else lines.push(INDENT + word.trimStart())
  }
  return lines.join('\n')
}

const GREEN = 32
const RED = 31
const YELLOW = 33

export function printableJson(verification: Verification): string {
  return `${printable(JSON.stringify(verification))}\n`
}
