/** Tables of RFC 8259's grammar, indexed by byte. */

export const SPACE = 1
export const QUOTE = 2
export const OPEN = 3
export const CLOSE = 4
export const COLON = 5
export const COMMA = 6
export const NUMBER = 7
export const LITERAL = 8

/** The meaning of a byte outside of strings, numbers and literals; 0 is an error. */
export const BYTE_CLASS = new Uint8Array(256)
for (const [bytes, meaning] of [
  [' \t\n\r', SPACE],
  ['"', QUOTE],
  ['{[', OPEN],
  ['}]', CLOSE],
  [':', COLON],
  [',', COMMA],
  ['-0123456789', NUMBER],
  ['tfn', LITERAL],
] as const) {
  for (const byte of Buffer.from(bytes)) BYTE_CLASS[byte] = meaning
}

/** The bytes that can start a value. */
export const BEGINS_VALUE = new Set(Buffer.from('"{[-0123456789tfn'))

/** The three literals, by their first byte. */
export const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]))

// RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]
const MINUS = 1
const ZERO = 2
const INT = 3
const POINT = 4
const FRACTION = 5
const EXPONENT = 6
const EXPONENT_SIGN = 7
const EXPONENT_DIGITS = 8
const STATES = 9

/** The next state by byte and state, or 0 if the byte is not part of the number. */
const NUMBER_STEPS = new Uint8Array(256 * STATES)
function allow(bytes: string, from: number, to: number): void {
  for (const byte of Buffer.from(bytes)) NUMBER_STEPS[byte * STATES + from] = to
}
allow('-', 0, MINUS)
for (const start of [0, MINUS]) {
  allow('0', start, ZERO)
  allow('123456789', start, INT)
}
allow('0123456789', INT, INT)
for (const whole of [ZERO, INT]) allow('.', whole, POINT)
for (const fraction of [POINT, FRACTION]) allow('0123456789', fraction, FRACTION)
for (const mantissa of [ZERO, INT, FRACTION]) allow('eE', mantissa, EXPONENT)
allow('+-', EXPONENT, EXPONENT_SIGN)
for (const exponent of [EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS]) allow('0123456789', exponent, EXPONENT_DIGITS)

/** Returns the state after `byte`, or 0 if the number has ended. State 0 is the start. */
export function getNextNumberState(state: number, byte: number): number {
  return NUMBER_STEPS[byte * STATES + state] as number
}

/** Whether a number can end in this state. */
export function canNumberEnd(state: number): boolean {
  return state === ZERO || state === INT || state === FRACTION || state === EXPONENT_DIGITS
}

/**
 * The text is not JSON, or exceeds a limit. `offset` counts bytes of the UTF-8 text without byte
 * order mark.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly offset: number

  constructor(reason: string, offset: number) {
    super(`${reason} (at byte ${offset})`)
    this.offset = offset
  }
}
