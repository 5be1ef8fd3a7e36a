import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectedFile } from './collected-logs.ts'

/** A shorter text, or one of few characters, also occurs where it is no secret. */
const CHARS_MIN = 16
const DISTINCT_MIN = 10

/** Fields of requests, responses and printed results that contain a secret. */
const FIELDS = /^(?:.*password|.*secret|.*token|key|private_key|pem|recovery_codes|link|code_verifier)$/
const SETTINGS = /SECRET|PRIVATE_KEY|PASSWORD|SMTP_URL|DATABASE_URL/

const noted = new Set<string>()

/** Notes a secret that a test has made: the runner searches all logs for it. */
export function noteSecret(kind: string, value: string): void {
  const file = collectedFile('.secrets')
  if (file === null || noted.has(value) || !isLikeNoOther(value)) return
  noted.add(value)
  appendFileSync(file, `${JSON.stringify({ kind, value })}\n`)
}

function isLikeNoOther(value: string): boolean {
  return value.length >= CHARS_MIN && new Set(value).size >= DISTINCT_MIN
}

/** Notes the secrets in a JSON value, at any depth. */
export function noteFields(origin: string, value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (FIELDS.test(name)) noteSecret(`${origin} ${name}`, secretPartOf(value))
    else if (/[?&](?:token|X-Amz-Signature)=/.test(value)) noteSecret(`${origin} ${name}`, secretPartOf(value))
  } else if (Array.isArray(value)) for (const item of value) noteFields(origin, item, name)
  else if (typeof value === 'object' && value !== null)
    for (const [field, item] of Object.entries(value)) noteFields(origin, item, field)
}

/** Of an address, only the token is a secret. */
function secretPartOf(value: string): string {
  return /[#?&](?:token|X-Amz-Signature)=([^&#]+)/.exec(value)?.[1] ?? value
}

/** Notes what a command printed as JSON. */
export function notePrinted(printed: unknown): void {
  noteFields('printed', printed)
}

export function noteSettings(env: Record<string, string>): void {
  for (const [name, value] of Object.entries(env)) if (SETTINGS.test(name)) noteSecret(name, passwordOf(value))
}

/** Of an address with a password, only that is a secret. */
function passwordOf(value: string): string {
  return URL.canParse(value) ? new URL(value).password : value
}

/** Notes the generated secret key of a data directory. */
export function noteDataDirectory(directory: string): void {
  try {
    noteSecret('secret key', readFileSync(join(directory, 'secret-key'), 'utf8').trim())
  } catch {
    // A key from the environment is not in a file.
  }
}
