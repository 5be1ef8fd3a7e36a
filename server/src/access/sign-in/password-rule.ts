import { weakPassword } from '../../errors/sign-in.ts'

/**
 * Lengths in characters (NIST SP 800-63B §3.1.1.2 requires at least 8, and at least 64 allowed).
 */
export const PASSWORD_CHARS_MIN = 12
export const PASSWORD_CHARS_MAX = 200

/** Fewer characters than this, repeated, make no password. */
const DISTINCT_CHARS_MIN = 4

/**
 * The words that the commonest passwords consist of. Digits and signs around a word do not count,
 * and a word may be repeated.
 */
const COMMON_WORDS = [
  'abc',
  'abcdefghijkl',
  'admin',
  'administrator',
  'asdfghjkl',
  'asdfghjklqwertyuiop',
  'changeit',
  'changeme',
  'default',
  'dragon',
  'football',
  'iloveyou',
  'letmein',
  'login',
  'master',
  'monkey',
  'mypassword',
  'newpassword',
  'p@ssw0rd',
  'p@ssword',
  'passw0rd',
  'password',
  'princess',
  'qwerty',
  'qwertyuiop',
  'qwertyuiopasdfghjkl',
  'secret',
  'shiplock',
  'sunshine',
  'superman',
  'supersecret',
  'test',
  'thisisapassword',
  'thisismypassword',
  'trustno1',
  'welcome',
]
const COMMON_PASSWORDS = [
  '1q2w3e4r5t6y',
  '1qaz2wsx3edc',
  '1qazxsw23edc',
  'qazwsxedcrfv',
  'q1w2e3r4t5y6',
  'zaq12wsxcde3',
]

type Owner = { email: string; name: string }

/** Throws 400 `weak_password` for a password that a list of guesses contains. */
export function requireStrongPassword(password: string, { email, name }: Owner): void {
  const text = password.normalize('NFKC').toLowerCase()
  const chars = [...text].length
  if (chars < PASSWORD_CHARS_MIN || chars > PASSWORD_CHARS_MAX)
    throw weakPassword(`The password must have ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters.`)
  if (isCommon(text)) throw weakPassword('The password is one of the commonest passwords. Choose another one.')
  const own = [email, email.split('@')[0] ?? '', name].map(getLetters)
  if (own.some((word) => word.length >= 3 && isRepeated(getLetters(text), word)))
    throw weakPassword('The password must not be your email address or your name.')
}

function isCommon(text: string): boolean {
  if (new Set(text).size < DISTINCT_CHARS_MIN || isSeries(text) || COMMON_PASSWORDS.includes(text)) return true
  const word = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const withLeadingSign = text.replace(/[^\p{L}]+$/u, '')
  return COMMON_WORDS.some((common) => isRepeated(word, common) || isRepeated(withLeadingSign, common))
}

/** Whether each character follows the one before, such as in 123456789012 and abcdefghijkl. */
function isSeries(text: string): boolean {
  const codes = [...text].map((char) => char.codePointAt(0) as number)
  const steps = codes.slice(1).map((code, at) => (code - (codes[at] as number) + 10) % 10)
  return new Set(steps).size === 1
}

function isRepeated(text: string, word: string): boolean {
  return text.length > 0 && text.replaceAll(word, '') === ''
}

/** Only letters and digits, in lower case. */
function getLetters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
