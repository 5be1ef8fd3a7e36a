import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCodeHost, PROVIDERS, type Provider } from './codehosts/catalogue.ts'
import { readHosts } from './platform/db/client/database-url.ts'
import { EnvironmentReader } from './platform/environment-reader.ts'
import { SAMPLERS, type TracingSettings } from './platform/otlp-tracer.ts'

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

/** Each server connects to one host of each kind. */
type CodeHostSettings = Readonly<
  Record<
    Provider,
    {
      /** The address of its API or of its server. */
      url: string
      /** Where clients sign in, if that is elsewhere. */
      signInUrl: string | null
    }
  >
>

/** The credentials of our App at a code host. */
type HostAppSettings = Readonly<{
  appId: string
  /** PEM. */
  privateKey: string
  /** Two while the secret is rotated. */
  webhookSecrets: readonly string[]
  apiUrl: string
}>

/** The server that sends our emails. */
type SmtpSettings = Readonly<{
  /** `smtp:` or `smtps:`, with the user and the password if the server needs them. */
  url: string
  /** The sender of our emails. */
  from: string
}>

/** The OpenID provider of the whole server. Roles are ids. */
type SsoSettings = Readonly<{
  issuer: string
  client_id: string
  client_secret: string
  /** Empty: every verified address. */
  email_domains: readonly string[]
  creates_accounts: boolean
  /** The slug of the organization that new accounts join. */
  organization: string
  default_role: string | null
  role_claim: string | null
  role_map: readonly { value: string; role: string }[]
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
  /** A replica of the database, for lists and charts; null: they are read from the database. */
  databaseReadUrl: string | null
  /** The directory in which the embedded PostgreSQL archives its WAL; null: nowhere. */
  walArchive: string | null
  environment: Environment
  /** Requests per minute and key; 0 turns the general limits off. */
  rateLimitPerMinute: number
  /** Open connections from one remote address; 0 means no limit. */
  connectionsPerAddressMax: number
  /** How long `/readyz` answers 503 before a stopping server closes its port. */
  stopNoticeSeconds: number
  /**
   * Addresses and networks of proxies whose `X-Forwarded-For` is believed; null: nobody has said.
   */
  trustedProxies: readonly string[] | null
  /** Networks in which the addresses that tenants choose may be, beside the public ones. */
  allowedNetworks: readonly string[]
  /** null: the built-in plans. */
  plansFile: string | null
  /** A file that extends the map of equivalent scanner rules; null: only the built-in map. */
  ruleMapFile: string | null
  /** How long audit entries are kept, at least as long as the plan's data; 0: without end. */
  auditRetentionDays: number
  /** null: a key is generated and kept in the data directory. */
  secretKey: string | null
  /** null: files under the data directory. */
  s3: S3Settings | null
  /** The OPA server that evaluates policies with the engine `opa`; null: none. */
  opaUrl: string | null
  /** null: nothing is fetched; intelligence is imported from files. */
  intel: IntelSettings | null
  /** Of hosts that are absent: the credentials that a setup stored in the database, if any. */
  hostApps: Readonly<Partial<Record<Provider, HostAppSettings>>>
  /** The AWS KMS key that signs statements; null: keys are generated and sealed in the database. */
  signingKmsKey: string | null
  /** The addresses of code hosts, without a slash at their end. */
  codeHosts: CodeHostSettings
  /** null: nothing is mailed, and links are passed on by whoever makes them. */
  smtp: SmtpSettings | null
  /** null: people sign in with single sign-on only where their organization has set it up. */
  sso: SsoSettings | null
  /** Whether people of every organization may manage what all organizations share. */
  organizationsTrustEachOther: boolean
  /** The directory of the built console; null: the console is off. */
  console: string | null
  logLevel: string
  /** Statements of the database that take this long are logged; 0 logs none. */
  slowQueryMs: number
  /** A port for metrics and health only, 0 for a free one; null: the port of the API has them. */
  metricsPort: number | null
  /** null: no traces are recorded. */
  tracing: TracingSettings | null
}>

/** All mistakes in the environment, so that one start reports every one of them. */
export class ConfigError extends Error {
  readonly mistakes: string[]

  constructor(mistakes: string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/**
 * Where `npm run build --workspace console` writes the console. The published package contains it.
 */
const IS_SOURCE = import.meta.url.endsWith('.ts')
const BUILT_CONSOLE = fileURLToPath(new URL(IS_SOURCE ? '../../console/dist' : '../console', import.meta.url))
/** Settings that can also be given as the path of a file, in NAME_FILE. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'SHIPLOCK_DATABASE_READ_URL',
  'SHIPLOCK_SECRET_KEY',
  'SHIPLOCK_S3_ACCESS_KEY_ID',
  'SHIPLOCK_S3_SECRET_ACCESS_KEY',
  ...PROVIDERS.flatMap((provider) => {
    const begin = getCodeHost(provider).appSettings
    return begin === null ? [] : [`${begin}_PRIVATE_KEY`, `${begin}_WEBHOOK_SECRET`]
  }),
  'SHIPLOCK_SMTP_URL',
  'SHIPLOCK_SSO_CLIENT_SECRET',
]
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const SECRET_KEY_CHARS_MIN = 32
const WEBHOOK_SECRETS_MAX = 2

/**
 * Reads the settings from environment variables (operating guide, "Settings"). Throws
 * `ConfigError`.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const read = new EnvironmentReader(env, SECRET_SETTINGS)
  const host = read.text('SHIPLOCK_HOST') ?? '127.0.0.1'
  const port = read.integer('SHIPLOCK_PORT', 8420, 0, 65_535)
  const codeHosts = readCodeHosts(read)
  const baseUrl = read.httpUrl('SHIPLOCK_BASE_URL') ?? addressOf(host, port)
  const config = {
    host,
    port,
    baseUrl,
    dataDir: resolve(read.text('SHIPLOCK_DATA_DIR') ?? 'data'),
    databaseUrl: read.postgresUrl('DATABASE_URL'),
    databaseReadUrl: readReplicaUrl(read),
    walArchive: readWalArchive(read),
    environment: read.oneOf('SHIPLOCK_ENVIRONMENT', ['production', 'development'], 'production') as Environment,
    rateLimitPerMinute: read.integer('SHIPLOCK_RATE_LIMIT_PER_MINUTE', 600, 0, 1_000_000),
    connectionsPerAddressMax: read.integer('SHIPLOCK_CONNECTIONS_PER_ADDRESS', 500, 0, 1_000_000),
    stopNoticeSeconds: read.integer('SHIPLOCK_STOP_NOTICE_SECONDS', 0, 0, 20),
    trustedProxies: readTrustedProxies(read),
    allowedNetworks: read.networks('SHIPLOCK_ALLOWED_NETWORKS'),
    plansFile: read.text('SHIPLOCK_PLANS_FILE'),
    ruleMapFile: read.text('SHIPLOCK_RULE_MAP'),
    auditRetentionDays: read.integer('SHIPLOCK_AUDIT_RETENTION_DAYS', 1825, 0, 36_500),
    secretKey: read.secret('SHIPLOCK_SECRET_KEY', SECRET_KEY_CHARS_MIN),
    s3: readS3(read),
    opaUrl: read.httpUrl('SHIPLOCK_OPA_URL'),
    intel: readIntel(read),
    hostApps: readHostApps(read, codeHosts),
    signingKmsKey: read.text('SHIPLOCK_SIGNING_KMS_KEY'),
    codeHosts,
    smtp: readSmtp(read, baseUrl),
    sso: readSso(read),
    organizationsTrustEachOther:
      read.oneOf('SHIPLOCK_ORGANIZATIONS_TRUST_EACH_OTHER', ['true', 'false'], 'false') === 'true',
    console: readConsole(read),
    logLevel: read.oneOf('SHIPLOCK_LOG_LEVEL', LOG_LEVELS, 'info'),
    slowQueryMs: read.integer('SHIPLOCK_SLOW_QUERY_MS', 1000, 0, 600_000),
    metricsPort: readMetricsPort(read, port),
    tracing: readTracing(read),
  }
  read.refuseMisspelt('SHIPLOCK_')
  if (read.mistakes.length > 0) throw new ConfigError(read.mistakes)
  return Object.freeze(config)
}

/** The path is part of a shell command of PostgreSQL's settings. */
function readWalArchive(read: EnvironmentReader): string | null {
  const text = read.text('SHIPLOCK_WAL_ARCHIVE')
  if (text === null) return null
  if (!/^[\w./ @+-]+$/.test(text))
    read.mistakes.push('SHIPLOCK_WAL_ARCHIVE must be a path of letters, digits, spaces and ./_@+-')
  return resolve(text)
}

/** Only a text with a slash is a directory, so that a misspelt "off" is a mistake. */
function readConsole(read: EnvironmentReader): string | null {
  const text = read.text('SHIPLOCK_CONSOLE') ?? 'on'
  if (text.includes('/')) return resolve(text)
  if (text !== 'on' && text !== 'off')
    read.mistakes.push(`SHIPLOCK_CONSOLE must be on, off or the directory of a built console, not "${text}"`)
  return text === 'off' ? null : BUILT_CONSOLE
}

/**
 * The positions of two replicas cannot be compared, so all connections have to reach the same one.
 */
function readReplicaUrl(read: EnvironmentReader): string | null {
  const name = 'SHIPLOCK_DATABASE_READ_URL'
  const url = read.postgresUrl(name)
  if (url === null) return null
  if (read.text('DATABASE_URL') === null) read.mistakes.push(`${name} requires DATABASE_URL`)
  if (readHosts(url) !== null) read.mistakes.push(`${name} must name one server, without target_session_attrs`)
  return url
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
  const list = 'SHIPLOCK_INTEL_HOSTS'
  const hosts = read.list(list).map((host) => host.toLowerCase())
  return {
    kevUrl: read.urlsOn('SHIPLOCK_INTEL_KEV_URL', hosts, list)[0] ?? null,
    epssUrl: read.urlsOn('SHIPLOCK_INTEL_EPSS_URL', hosts, list)[0] ?? null,
    osvUrls: read.urlsOn('SHIPLOCK_INTEL_OSV_URLS', hosts, list),
    hosts,
  }
}

function readCodeHosts(read: EnvironmentReader): CodeHostSettings {
  const addresses = PROVIDERS.map((provider) => {
    const { url, sign_in } = getCodeHost(provider).addresses
    const signInUrl = sign_in === undefined ? null : (read.secureUrl(sign_in[0]) ?? sign_in[1])
    return [provider, { url: read.secureUrl(url[0]) ?? url[1], signInUrl }] as const
  })
  return Object.fromEntries(addresses) as CodeHostSettings
}

function readHostApps(read: EnvironmentReader, codeHosts: CodeHostSettings): Config['hostApps'] {
  const apps = PROVIDERS.map((provider) => [provider, readHostApp(read, provider, codeHosts[provider].url)] as const)
  return Object.fromEntries(apps.filter(([, app]) => app !== null))
}

/** Setting any of these variables selects the App of the environment and requires all three. */
function readHostApp(read: EnvironmentReader, provider: Provider, apiUrl: string): HostAppSettings | null {
  const { name, appSettings: begin } = getCodeHost(provider)
  if (begin === null) return null
  const names = [`${begin}_APP_ID`, `${begin}_PRIVATE_KEY`, `${begin}_WEBHOOK_SECRET`] as const
  if (names.every((setting) => read.text(setting) === null)) return null
  const [idName, keyName, secretName] = names
  const purpose = `the ${name} App`
  return {
    appId: read.required(idName, purpose) && read.matching(idName, /^[1-9]\d{0,17}$/, 'the number of the App'),
    privateKey: read.required(keyName, purpose) && read.rsaKey(keyName),
    webhookSecrets: read.required(secretName, purpose) ? read.secrets(secretName, WEBHOOK_SECRETS_MAX) : [],
    apiUrl,
  }
}

/**
 * The systemd units set `required`, so that whoever installs them says what is in front of the
 * server.
 */
function readTrustedProxies(read: EnvironmentReader): string[] | null {
  const name = 'SHIPLOCK_TRUSTED_PROXIES'
  const text = read.text(name)
  if (text === null) return null
  if (text === 'none') return []
  if (text !== 'required') return read.networks(name)
  read.mistakes.push(`${name} must list the addresses of the reverse proxies in front of the server, or be "none"`)
  return []
}

function readMetricsPort(read: EnvironmentReader, apiPort: number): number | null {
  const name = 'SHIPLOCK_METRICS_PORT'
  if (read.text(name) === null) return null
  const port = read.integer(name, 0, 0, 65_535)
  if (port !== 0 && port === apiPort) read.mistakes.push(`${name} must differ from SHIPLOCK_PORT`)
  return port
}

/**
 * The standard variables of OpenTelemetry. Only the address turns tracing on, so that the others
 * can be set for all programs of a machine.
 */
function readTracing(read: EnvironmentReader): TracingSettings | null {
  const endpoint = read.httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (endpoint === null) return null
  return {
    endpoint,
    serviceName: read.text('OTEL_SERVICE_NAME') ?? 'shiplock',
    sampler: read.oneOf('OTEL_TRACES_SAMPLER', [...SAMPLERS], 'parentbased_always_on') as TracingSettings['sampler'],
    ratio: read.share('OTEL_TRACES_SAMPLER_ARG', 1),
  }
}

/** Setting any of these variables requires the first three. */
function readSso(read: EnvironmentReader): SsoSettings | null {
  if (!read.hasAny('SHIPLOCK_SSO_')) return null
  const purpose = 'single sign-on'
  return {
    issuer: read.required('SHIPLOCK_SSO_ISSUER', purpose) && (read.issuer('SHIPLOCK_SSO_ISSUER') ?? ''),
    client_id: read.required('SHIPLOCK_SSO_CLIENT_ID', purpose),
    client_secret: read.required('SHIPLOCK_SSO_CLIENT_SECRET', purpose),
    email_domains: read.list('SHIPLOCK_SSO_EMAIL_DOMAINS').map((domain) => domain.toLowerCase()),
    creates_accounts: read.oneOf('SHIPLOCK_SSO_CREATE_ACCOUNTS', ['true', 'false'], 'false') === 'true',
    organization: read.text('SHIPLOCK_SSO_ORG') ?? 'default',
    default_role: read.text('SHIPLOCK_SSO_DEFAULT_ROLE'),
    role_claim: read.text('SHIPLOCK_SSO_ROLE_CLAIM'),
    role_map: read.pairs('SHIPLOCK_SSO_ROLE_MAP').map(([value, role]) => ({ value, role })),
  }
}

function readSmtp(read: EnvironmentReader, baseUrl: string): SmtpSettings | null {
  const url = read.smtpUrl('SHIPLOCK_SMTP_URL')
  if (url === null) return null
  const domain = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost'
  return { url, from: read.text('SHIPLOCK_SMTP_FROM') ?? `Shiplock <shiplock@${domain}>` }
}

/** The settings with the port that was chosen for port 0. A base address that was set stays. */
export function withPort(config: Config, port: number): Config {
  const baseUrl = config.baseUrl === addressOf(config.host, config.port) ? addressOf(config.host, port) : config.baseUrl
  return Object.freeze({ ...config, port, baseUrl })
}

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
