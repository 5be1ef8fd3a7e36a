import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isLoopback } from './loopback.ts'

/** What `target_session_attrs` may ask for in an address that is written to. */
const WRITABLE_SESSIONS = ['read-write', 'primary', 'any']

/**
 * Reads one variable at a time and collects mistakes instead of throwing. An empty variable counts
 * as absent.
 */
export class EnvironmentReader {
  readonly mistakes: string[] = []
  readonly #env: NodeJS.ProcessEnv
  /** Every name that has been asked for. */
  readonly #known: Set<string>

  /** The variables in `secrets` can also be given as files. */
  constructor(env: NodeJS.ProcessEnv, secrets: readonly string[] = []) {
    const { values, mistakes } = readSecretFiles(env, secrets)
    this.#env = { ...env, ...values }
    this.mistakes.push(...mistakes)
    this.#known = new Set(secrets.flatMap((name) => [name, `${name}_FILE`]))
  }

  text(name: string): string | null {
    this.#known.add(name)
    return this.#env[name]?.trim() || null
  }

  hasAny(prefix: string): boolean {
    return Object.keys(this.#env).some((name) => name.startsWith(prefix) && this.#env[name]?.trim())
  }

  /** Adds variables that look like a setting and were not asked for. Called after all others. */
  refuseMisspelt(prefix: string): void {
    this.mistakes.push(...listMisspeltSettings(this.#env, this.#known, prefix))
  }

  required(name: string, purpose: string): string {
    const text = this.text(name)
    if (text === null) this.mistakes.push(`${name} is missing; ${purpose} requires it`)
    return text ?? ''
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.text(name)
    if (text === null) return fallback
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    this.mistakes.push(`${name} must be an integer from ${min} to ${max}, not "${text}"`)
    return fallback
  }

  /** A number from 0 to 1. */
  share(name: string, fallback: number): number {
    const text = this.text(name)
    if (text === null) return fallback
    const value = /^\d(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
    if (value <= 1) return value
    this.mistakes.push(`${name} must be a number from 0 to 1, not "${text}"`)
    return fallback
  }

  oneOf(name: string, allowed: string[], fallback: string): string {
    const text = this.text(name)
    if (text === null || allowed.includes(text)) return text ?? fallback
    this.mistakes.push(`${name} must be one of ${allowed.join(', ')}, not "${text}"`)
    return fallback
  }

  secret(name: string, charsMin: number): string | null {
    const text = this.text(name)
    if (text !== null && text.length < charsMin) this.mistakes.push(`${name} must have at least ${charsMin} characters`)
    return text
  }

  httpUrl(name: string): string | null {
    return this.#url(name, ['http:', 'https:'], 'an http or https address')?.replace(/\/$/, '') ?? null
  }

  /** An https address without user, query and fragment. http is accepted on this machine only. */
  secureUrl(name: string): string | null {
    const text = this.text(name)
    if (text === null) return null
    const url = URL.canParse(text) ? new URL(text) : null
    const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
    if (url && isSecure && !url.username && !url.password && !url.search && !url.hash)
      return url.href.replace(/(?<!\/)\/+$/, '')
    this.mistakes.push(`${name} must be an https address, or an http address of this machine, without user or query`)
    return null
  }

  /** An issuer (OpenID Connect Discovery §3), character by character as the provider states it. */
  issuer(name: string): string | null {
    return this.secureUrl(name) && this.text(name)
  }

  /** Items of the form `value=other`, separated by commas. */
  pairs(name: string): [string, string][] {
    return this.list(name).flatMap((item) => {
      const at = item.lastIndexOf('=')
      const pair: [string, string] = [item.slice(0, at).trim(), item.slice(at + 1).trim()]
      if (at > 0 && pair.every(Boolean)) return [pair]
      this.mistakes.push(`${name} must have items like value=role, not "${item}"`)
      return []
    })
  }

  matching(name: string, pattern: RegExp, form: string): string {
    const text = this.text(name) ?? ''
    if (!pattern.test(text)) this.mistakes.push(`${name} must be ${form}`)
    return text
  }

  /** One to `max` secrets separated by commas. Messages do not repeat them. */
  secrets(name: string, max: number): string[] {
    const secrets = this.list(name)
    if (secrets.length < 1 || secrets.length > max)
      this.mistakes.push(`${name} must be a secret, or ${max} secrets separated by a comma`)
    return secrets
  }

  /** A PEM text, in which `\\n` may stand for a line break, or the path of a file with one. */
  rsaKey(name: string): string {
    const text = this.text(name) ?? ''
    const isPem = text.includes('-----BEGIN')
    try {
      const pem = isPem ? text.replaceAll('\\n', '\n') : readFileSync(text, 'utf8').trim()
      if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem
    } catch {
      // The message states what is expected. The error could contain parts of the key.
    }
    this.mistakes.push(
      `${name} must be an RSA private key in PEM format, or the path of a file that contains one${isPem ? '' : ': no such key can be read from that path'}`,
    )
    return ''
  }

  /** Items separated by commas. */
  list(name: string): string[] {
    return (this.text(name) ?? '').split(',').flatMap((item) => item.trim() || [])
  }

  /** IP addresses and networks in CIDR notation, separated by commas. */
  networks(name: string): string[] {
    const items = this.list(name)
    const wrong = items.find((item) => !isNetwork(item))
    if (wrong !== undefined)
      this.mistakes.push(`${name} must list IP addresses or networks such as 10.0.0.0/8, not "${wrong}"`)
    return items
  }

  /** Addresses separated by commas. Each must be on a host that the variable `list` allows. */
  urlsOn(name: string, hosts: readonly string[], list: string): string[] {
    return this.list(name).filter((url) => {
      const host = URL.canParse(url) && /^https?:/i.test(url) ? new URL(url).host : null
      if (host !== null && hosts.includes(host)) return true
      const mistake =
        host === null
          ? 'contains an item that is not an http or https address'
          : `is on the host ${host}, which ${list} does not list`
      this.mistakes.push(`${name} ${mistake}`)
      return false
    })
  }

  postgresUrl(name: string): string | null {
    const form = 'an address like postgres://user:password@host:5432/database'
    const url = this.#url(name, ['postgres:', 'postgresql:'], form)
    const wanted = /[?&]target_session_attrs=([^&]*)/.exec(url ?? '')?.[1] ?? 'any'
    if (!WRITABLE_SESSIONS.includes(wanted))
      this.mistakes.push(`${name} must have target_session_attrs=read-write, not "${wanted}": it is written to`)
    return url
  }

  smtpUrl(name: string): string | null {
    return this.#url(name, ['smtp:', 'smtps:'], 'an address like smtp://user:password@host:587')
  }

  /** The message does not repeat the value, because an address may contain a password. */
  #url(name: string, protocols: string[], form: string): string | null {
    const text = this.text(name)
    if (text === null) return null
    const protocol = URL.canParse(text) ? new URL(text).protocol : `${text.split('://')[0]}:`
    if (protocols.includes(protocol)) return text
    this.mistakes.push(`${name} must be ${form}`)
    return null
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** How many letters a name may differ from that of a setting to be taken for it. */
const LETTERS_MAX = 2

/**
 * Mistakes about variables that are ignored although they look like a setting. Other names are left
 * alone: they may belong to another program, or to a later version of this one.
 */
function listMisspeltSettings(env: NodeJS.ProcessEnv, known: ReadonlySet<string>, prefix: string): string[] {
  const ignored = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.has(name) && env[name]?.trim())
  return ignored.flatMap((name) => {
    const setting = name.replace(/_FILE$/, '')
    if (known.has(setting)) return [`${name} is not supported: ${setting} is no secret, so set it directly`]
    const meant = [...known].find((candidate) => distance(name, candidate) <= LETTERS_MAX)
    return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
  })
}

/** How many letters have to be inserted, removed or replaced to make one text the other. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let at = 1; at <= b.length; at++) {
      const replaced = (above[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1))
    }
    above = current
  }
  return above.at(-1) ?? 0
}

/**
 * Reads the variables that are given as files: `DATABASE_URL_FILE=/run/secrets/database-url` sets
 * `DATABASE_URL`. Docker, Kubernetes and systemd hand out secrets like this, and a file is not
 * inherited by other processes.
 */
export function readSecretFiles(env: NodeJS.ProcessEnv, names: readonly string[]) {
  const values: Record<string, string> = {}
  const mistakes: string[] = []
  for (const name of names) {
    const path = env[`${name}_FILE`]?.trim()
    if (!path) continue
    if (env[name]?.trim()) mistakes.push(`${name} and ${name}_FILE are both set; set only one of them`)
    else values[name] = readSecretFile(`${name}_FILE`, path, mistakes)
  }
  return { values, mistakes }
}

function readSecretFile(variable: string, path: string, mistakes: string[]): string {
  try {
    const text = readFileSync(path, 'utf8').trim()
    if (text === '') mistakes.push(`${variable}: the file ${path} is empty`)
    return text
  } catch (error) {
    mistakes.push(`${variable}: the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return ''
  }
}
