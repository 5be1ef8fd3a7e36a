import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { weakPassword } from '../../errors/sign-in.ts'
import { getNetwork } from '../../platform/http/connection-limits.ts'
import { limitReached } from '../../platform/http/errors.ts'
import { NetworkSlots } from '../../platform/http/network-slots.ts'
import type { Guesser } from './attempt-limit.ts'

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
  const word = text.replace(/^\P{L}+|(?<!\P{L})\P{L}+$/gu, '')
  const withLeadingSign = text.replace(/(?<!\P{L})\P{L}+$/u, '')
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

/** The parameters of OWASP's Password Storage Cheat Sheet: 19 MiB, 2 passes, 1 thread. */
const COSTS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

/** Hashes that are computed at the same time. The others wait, so that memory is bounded. */
const RUNNING_MAX = 2
const WAITING_MAX = 1000
const WAITING_OF_NETWORK_MAX = 100
const RETRY_SECONDS = 2

const slots = new NetworkSlots({
  heldMax: RUNNING_MAX,
  heldOfNetworkMax: RUNNING_MAX,
  waitingMax: WAITING_MAX,
  waitingOfNetworkMax: WAITING_OF_NETWORK_MAX,
  createBusyError: () => {
    const details = { limit: WAITING_OF_NETWORK_MAX, resetAt: null }
    return limitReached('Too many people are signing in. Try again later.', details).retryAfter(RETRY_SECONDS)
  },
})

/**
 * Verifies a guess when it is its turn: networks, and browsers that accounts know, take turns.
 * Throws 429 `rate_limited` if too many wait.
 */
export function hashInTurn<Result>({ address, known }: Guesser, work: () => Promise<Result>): Promise<Result> {
  return slots.run(known ?? getNetwork(address), work)
}

type Costs = typeof COSTS
type Hashed = Costs & { salt: Buffer; tag: Buffer }

const computeArgon2 = promisify(argon2)

/** A hash of a password that fulfils our rule. */
export type PasswordHash = string & { readonly brand: 'password hash' }

/**
 * Hashes a new password with argon2id (RFC 9106). Returns a PHC string. Each owner takes their own
 * turns: who holds one link must not use up those of all others.
 */
export async function hashPassword(password: string, ownerId: string): Promise<PasswordHash> {
  const salt = randomBytes(SALT_BYTES)
  const work = () => compute(password, { ...COSTS, salt, tag: { length: TAG_BYTES } })
  const tag = await slots.run(`new password of ${ownerId}`, work)
  return format({ ...COSTS, salt, tag }) as PasswordHash
}

/**
 * Whether a password has this hash. Call it in turn (`hashInTurn`). Without a hash the work is the
 * same, so that the time does not tell whether an account exists.
 */
export async function matchPassword(stored: string | null, password: string): Promise<boolean> {
  const hashed = parse(stored ?? NO_PASSWORD)
  if (hashed === null) throw new Error('A stored password hash is not a PHC string of argon2id.')
  const tag = await compute(password, hashed)
  return timingSafeEqual(tag, hashed.tag) && stored !== null
}

/** Whether a hash was made with other parameters than today's. */
export function isOutdated(stored: string): boolean {
  const hashed = parse(stored)
  return hashed === null || (Object.keys(COSTS) as (keyof Costs)[]).some((name) => hashed[name] !== COSTS[name])
}

/** Computes in the thread pool of Node.js. */
async function compute(password: string, { salt, tag, ...costs }: Costs & { salt: Buffer; tag: { length: number } }) {
  // Keyboards and systems write the same character in different ways (NIST SP 800-63B §3.1.1.2).
  const message = password.normalize('NFKC')
  return computeArgon2('argon2id', { message, nonce: salt, tagLength: tag.length, ...costs })
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

/** Reads a PHC string, or returns null. */
function parse(text: string): Hashed | null {
  const match = PHC.exec(text)
  if (match === null) return null
  const [, memory, passes, parallelism, salt, tag] = match as unknown as string[]
  const [saltBytes, tagBytes] = [salt, tag].map((part) => Buffer.from(part as string, 'base64')) as [Buffer, Buffer]
  const costs = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { ...costs, salt: saltBytes, tag: tagBytes }
}

/** Formats a PHC string. It has base64 without padding. */
function format({ memory, passes, parallelism, salt, tag }: Hashed): string {
  const [saltText, tagText] = [salt, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${saltText}$${tagText}`
}

/** A hash that no password has. */
const NO_PASSWORD = format({ ...COSTS, salt: randomBytes(SALT_BYTES), tag: randomBytes(TAG_BYTES) })
