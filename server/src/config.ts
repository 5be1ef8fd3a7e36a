import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export type Environment = 'production' | 'development'

/** A bucket of an S3-compatible store. Objects are stored in it instead of the data directory. */
type S3Settings = Readonly<{
  /** null: Amazon's endpoint of the region. */
  endpoint: string | null
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Puts the bucket in the path instead of the host name, as most self-hosted stores need it. */
  forcePathStyle: boolean
}>

/** The sources from which vulnerability intelligence is fetched once a day. */
export type IntelSettings = Readonly<{
  kevUrl: string | null
  epssUrl: string | null
  osvUrls: readonly string[]
  /** The only hosts to which requests are sent, redirects included. */
  hosts: readonly string[]
}>

/** The credentials of our App at GitHub. */
type GithubSettings = Readonly<{
  appId: string
  /** PEM. */
  privateKey: string
  /** Two while the secret is rotated. */
  webhookSecrets: readonly string[]
  apiUrl: string
}>

export type Config = Readonly<{
  host: string
  /** 0: a free port. */
  port: number
  /** The address by which clients reach the API, without a slash at its end. */
  baseUrl: string
  dataDir: string
  /** null: the embedded PostgreSQL under the data directory. */
  databaseUrl: string | null
  environment: Environment
  /** Requests per minute and key; 0 turns the general limits off. */
  rateLimitPerMinute: number
  /** Open connections from one remote address; 0 means no limit. */
  connectionsPerAddressMax: number
  /** null: the built-in plans. */
  plansFile: string | null
  /** A file that extends the map of equivalent scanner rules; null: only the built-in map. */
  ruleMapFile: string | null
  /** null: a key is generated and kept in the data directory. */
  secretKey: string | null
  /** null: files under the data directory. */
  s3: S3Settings | null
  /** The OPA server that evaluates policies with the engine `opa`; null: none. */
  opaUrl: string | null
  /** null: nothing is fetched; intelligence is imported from files. */
  intel: IntelSettings | null
  /** null: the credentials that the manifest flow stored in the database, if any. */
  github: GithubSettings | null
  /** The AWS KMS key that signs statements; null: keys are generated and sealed in the database. */
  signingKmsKey: string | null
  /** The address of GitHub's REST API, without a slash at its end. */
  githubApiUrl: string
  logLevel: string
}>

/** All mistakes in the environment, so that one start reports every one of them. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const SECRET_KEY_CHARS_MIN = 32
const GITHUB_API_URL = 'https://api.github.com'
const WEBHOOK_SECRETS_MAX = 2

/**
 * Reads the settings from environment variables (operating guide, "Settings"). Throws
 * `ConfigError`.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const read = new EnvironmentReader(env)
  const host = read.text('SHIPLOCK_HOST') ?? '127.0.0.1'
  const port = read.integer('SHIPLOCK_PORT', 8420, 0, 65_535)
  const githubApiUrl = read.secureUrl('SHIPLOCK_GITHUB_API_URL') ?? GITHUB_API_URL
  const config = {
    host,
    port,
    baseUrl: read.httpUrl('SHIPLOCK_BASE_URL') ?? addressOf(host, port),
    dataDir: resolve(read.text('SHIPLOCK_DATA_DIR') ?? 'data'),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    environment: read.oneOf('SHIPLOCK_ENVIRONMENT', ['production', 'development'], 'production') as Environment,
    rateLimitPerMinute: read.integer('SHIPLOCK_RATE_LIMIT_PER_MINUTE', 600, 0, 1_000_000),
    connectionsPerAddressMax: read.integer('SHIPLOCK_CONNECTIONS_PER_ADDRESS', 500, 0, 1_000_000),
    plansFile: read.text('SHIPLOCK_PLANS_FILE'),
    ruleMapFile: read.text('SHIPLOCK_RULE_MAP'),
    secretKey: read.secret('SHIPLOCK_SECRET_KEY', SECRET_KEY_CHARS_MIN),
    s3: readS3(read),
    opaUrl: read.httpUrl('SHIPLOCK_OPA_URL'),
    intel: readIntel(read),
    github: readGithub(read, githubApiUrl),
    signingKmsKey: read.text('SHIPLOCK_SIGNING_KMS_KEY'),
    githubApiUrl,
    logLevel: read.oneOf('SHIPLOCK_LOG_LEVEL', LOG_LEVELS, 'info'),
  }
  if (read.mistakes.length > 0) throw new ConfigError(read.mistakes)
  return Object.freeze(config)
}

/** Setting any of these variables selects S3 and requires all of them that have no default. */
function readS3(read: EnvironmentReader): S3Settings | null {
  if (!read.hasAny('SHIPLOCK_S3_')) return null
  return {
    endpoint: read.httpUrl('SHIPLOCK_S3_ENDPOINT'),
    bucket: read.required('SHIPLOCK_S3_BUCKET', 'S3'),
    region: read.required('SHIPLOCK_S3_REGION', 'S3'),
    accessKeyId: read.required('SHIPLOCK_S3_ACCESS_KEY_ID', 'S3'),
    secretAccessKey: read.required('SHIPLOCK_S3_SECRET_ACCESS_KEY', 'S3'),
    forcePathStyle: read.oneOf('SHIPLOCK_S3_FORCE_PATH_STYLE', ['true', 'false'], 'false') === 'true',
  }
}

/** Requests are sent only to hosts that are allowed by name. */
function readIntel(read: EnvironmentReader): IntelSettings | null {
  if (!read.hasAny('SHIPLOCK_INTEL_')) return null
  const hosts = read.list('SHIPLOCK_INTEL_HOSTS').map((host) => host.toLowerCase())
  return {
    kevUrl: read.urlsOf('SHIPLOCK_INTEL_KEV_URL', hosts)[0] ?? null,
    epssUrl: read.urlsOf('SHIPLOCK_INTEL_EPSS_URL', hosts)[0] ?? null,
    osvUrls: read.urlsOf('SHIPLOCK_INTEL_OSV_URLS', hosts),
    hosts,
  }
}

/** Setting any of these variables selects the App of the environment and requires all three. */
function readGithub(read: EnvironmentReader, apiUrl: string): GithubSettings | null {
  const names = ['SHIPLOCK_GITHUB_APP_ID', 'SHIPLOCK_GITHUB_PRIVATE_KEY', 'SHIPLOCK_GITHUB_WEBHOOK_SECRET'] as const
  if (names.every((name) => read.text(name) === null)) return null
  const [idName, keyName, secretName] = names
  const purpose = 'the GitHub App'
  return {
    appId: read.required(idName, purpose) && read.matching(idName, /^[1-9]\d{0,17}$/, 'the number of the App'),
    privateKey: read.required(keyName, purpose) && read.rsaKey(keyName),
    webhookSecrets: read.required(secretName, purpose) ? read.secrets(secretName, WEBHOOK_SECRETS_MAX) : [],
    apiUrl,
  }
}

/** The settings with the port that was chosen for port 0. A base address that was set stays. */
export function withPort(config: Config, port: number): Config {
  const baseUrl = config.baseUrl === addressOf(config.host, config.port) ? addressOf(config.host, port) : config.baseUrl
  return Object.freeze({ ...config, port, baseUrl })
}

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** True for the name and the addresses of this machine (RFC 6761 §6.3, RFC 6890 §2.2.2). */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

/**
 * Reads one variable at a time and collects mistakes instead of throwing. An empty variable counts
 * as absent.
 */
class EnvironmentReader {
  readonly mistakes: string[] = []
  readonly #env: NodeJS.ProcessEnv

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  text(name: string): string | null {
    return this.#env[name]?.trim() || null
  }

  hasAny(prefix: string): boolean {
    return Object.keys(this.#env).some((name) => name.startsWith(prefix) && this.text(name) !== null)
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
      return url.href.replace(/\/+$/, '')
    this.mistakes.push(`${name} must be an https address, or an http address of this machine, without user or query`)
    return null
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

  /** Addresses separated by commas. Each must be on an allowed host. */
  urlsOf(name: string, hosts: readonly string[]): string[] {
    return this.list(name).filter((url) => {
      const host = URL.canParse(url) && /^https?:/i.test(url) ? new URL(url).host : null
      if (host !== null && hosts.includes(host)) return true
      const mistake =
        host === null
          ? 'contains an item that is not an http or https address'
          : `is on the host ${host}, which SHIPLOCK_INTEL_HOSTS does not list`
      this.mistakes.push(`${name} ${mistake}`)
      return false
    })
  }

  postgresUrl(name: string): string | null {
    return this.#url(name, ['postgres:', 'postgresql:'], 'an address like postgres://user:password@host:5432/database')
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
