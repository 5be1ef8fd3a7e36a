import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig, SECRET_SETTINGS } from './config.ts'

function mistakesOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}

test('an empty environment gives the defaults of the operating guide', () => {
  const { dataDir, console: builtConsole, ...config } = readConfig({})
  assert.ok(isAbsolute(dataDir))
  assert.match(dataDir, /[/\\]data$/)
  assert.match(builtConsole ?? '', /[/\\]console[/\\]dist$/)
  assert.deepEqual(config, {
    host: '127.0.0.1',
    port: 8420,
    baseUrl: 'http://127.0.0.1:8420',
    databaseUrl: null,
    databaseReadUrl: null,
    walArchive: null,
    environment: 'production',
    rateLimitPerMinute: 600,
    connectionsPerAddressMax: 500,
    stopNoticeSeconds: 0,
    trustedProxies: null,
    allowedNetworks: [],
    plansFile: null,
    ruleMapFile: null,
    secretKey: null,
    s3: null,
    opaUrl: null,
    intel: null,
    hostApps: {},
    signingKmsKey: null,
    codeHosts: {
      github: { url: 'https://api.github.com', signInUrl: null },
      gitlab: { url: 'https://gitlab.com', signInUrl: null },
      bitbucket: { url: 'https://api.bitbucket.org', signInUrl: null },
      azure: { url: 'https://dev.azure.com', signInUrl: 'https://login.microsoftonline.com' },
    },
    smtp: null,
    sso: null,
    organizationsTrustEachOther: false,
    auditRetentionDays: 1825,
    logLevel: 'info',
    slowQueryMs: 1000,
    metricsPort: null,
    tracing: null,
  })
})

test('only the address of a collector turns tracing on, and a wrong sampler or share is a mistake', () => {
  assert.equal(readConfig({ OTEL_SERVICE_NAME: 'a', OTEL_TRACES_SAMPLER: 'unknown' }).tracing, null)
  const endpoint = 'http://127.0.0.1:4318'
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`, OTEL_TRACES_SAMPLER: 'traceidratio' }
  const expected = { endpoint, serviceName: 'shiplock', sampler: 'traceidratio', ratio: 0.25 }
  assert.deepEqual(readConfig({ ...env, OTEL_TRACES_SAMPLER_ARG: '0.25' }).tracing, expected)
  assert.throws(
    () => readConfig({ ...env, OTEL_TRACES_SAMPLER: 'some', OTEL_TRACES_SAMPLER_ARG: '2' }),
    /OTEL_TRACES_SAMPLER must be one of .*\nOTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "2"$/,
  )
})

test('the base address follows host and port unless it is given', () => {
  assert.equal(readConfig({ SHIPLOCK_HOST: '::1', SHIPLOCK_PORT: '80' }).baseUrl, 'http://[::1]:80')
  assert.equal(readConfig({ SHIPLOCK_BASE_URL: 'https://ci.example/shiplock/' }).baseUrl, 'https://ci.example/shiplock')
})

test('an empty or blank variable is an absent one, and white space around a value is none of it', () => {
  assert.equal(readConfig({ SHIPLOCK_PORT: '', DATABASE_URL: '  ' }).port, 8420)
  assert.equal(readConfig({ SHIPLOCK_PORT: ' 9000 ' }).port, 9000)
})

test('every secret can be given as a file, and the operating guide lists them', () => {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-config-'))
  const path = join(directory, 'secret')
  writeFileSync(path, 'postgres://shiplock:hunter2@db.example/shiplock\n')
  assert.equal(readConfig({ DATABASE_URL_FILE: path }).databaseUrl, 'postgres://shiplock:hunter2@db.example/shiplock')
  rmSync(directory, { recursive: true })
  const guide = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  for (const name of SECRET_SETTINGS) {
    assert.deepEqual(mistakesOf({ [`${name}_FILE`]: path }).slice(0, 1), [
      `${name}_FILE: the file ${path} cannot be read (ENOENT)`,
    ])
    assert.ok(guide.includes(`\`${name}_FILE\``), name)
  }
})

test('the settings cannot be changed afterwards', () => {
  assert.ok(Object.isFrozen(readConfig({})))
})

const TAKEN: [name: string, value: string][] = [
  ['SHIPLOCK_PORT', '0'],
  ['SHIPLOCK_PORT', '65535'],
  ['SHIPLOCK_RATE_LIMIT_PER_MINUTE', '0'],
  ['SHIPLOCK_CONNECTIONS_PER_ADDRESS', '0'],
  ['SHIPLOCK_TRUSTED_PROXIES', '10.0.0.0/8, 192.0.2.1,fd00::/8'],
  ['SHIPLOCK_TRUSTED_PROXIES', 'none'],
  ['SHIPLOCK_ENVIRONMENT', 'development'],
  ['SHIPLOCK_LOG_LEVEL', 'trace'],
  ['SHIPLOCK_SECRET_KEY', 'x'.repeat(32)],
  ['DATABASE_URL', 'postgres://user:password@db.example:5432/shiplock?sslmode=require'],
  ['DATABASE_URL', 'postgresql://db.example/shiplock'],
  ['DATABASE_URL', 'postgres://user@one.example,two.example:5433/shiplock?target_session_attrs=read-write'],
  ['SHIPLOCK_BASE_URL', 'https://shiplock.example'],
  ['SHIPLOCK_OPA_URL', 'http://opa.example:8181'],
  ['SHIPLOCK_CONSOLE', 'on'],
  ['SHIPLOCK_CONSOLE', 'off'],
  ['SHIPLOCK_CONSOLE', './console'],
  ['SHIPLOCK_GITHUB_API_URL', 'https://github.example/api/v3'],
  ['SHIPLOCK_GITHUB_API_URL', 'http://127.0.0.1:3000'],
  ['SHIPLOCK_GITHUB_API_URL', 'http://[::1]:3000/api/v3/'],
]
for (const [name, value] of TAKEN) {
  test(`${name} takes ${value}`, () => assert.deepEqual(mistakesOf({ [name]: value }), []))
}

const REFUSED: [name: string, value: string][] = [
  ['SHIPLOCK_PORT', '65536'],
  ['SHIPLOCK_PORT', '-1'],
  ['SHIPLOCK_PORT', '8420x'],
  ['SHIPLOCK_PORT', '1e3'],
  ['SHIPLOCK_RATE_LIMIT_PER_MINUTE', '1.5'],
  ['SHIPLOCK_ORGANIZATIONS_TRUST_EACH_OTHER', 'yes'],
  ['SHIPLOCK_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['SHIPLOCK_TRUSTED_PROXIES', 'proxy.example'],
  ['SHIPLOCK_TRUSTED_PROXIES', 'required'],
  ['SHIPLOCK_ENVIRONMENT', 'prod'],
  ['SHIPLOCK_LOG_LEVEL', 'loud'],
  ['SHIPLOCK_SECRET_KEY', 'x'.repeat(31)],
  ['DATABASE_URL', 'mysql://db.example/shiplock'],
  ['DATABASE_URL', 'postgres://one.example,two.example/shiplock?target_session_attrs=standby'],
  ['SHIPLOCK_STOP_NOTICE_SECONDS', '21'],
  ['DATABASE_URL', 'db.example'],
  ['SHIPLOCK_BASE_URL', 'shiplock.example'],
  ['SHIPLOCK_BASE_URL', 'ftp://shiplock.example'],
  ['SHIPLOCK_OPA_URL', 'opa.example:8181'],
  ['SHIPLOCK_CONSOLE', 'false'],
  ['SHIPLOCK_GITHUB_API_URL', 'http://github.example/api/v3'],
  ['SHIPLOCK_GITHUB_API_URL', 'https://user:password@github.example'],
  ['SHIPLOCK_GITHUB_API_URL', 'https://github.example/?token=x'],
  ['SHIPLOCK_GITHUB_API_URL', 'github.example'],
]
for (const [name, value] of REFUSED) {
  test(`${name} refuses ${value} by name`, () => {
    const mistakes = mistakesOf({ [name]: value })
    assert.equal(mistakes.length, 1)
    assert.ok(mistakes[0]?.startsWith(`${name} `))
  })
}

const S3 = {
  SHIPLOCK_S3_BUCKET: 'shiplock',
  SHIPLOCK_S3_REGION: 'eu-central-1',
  SHIPLOCK_S3_ACCESS_KEY_ID: 'key-id',
  SHIPLOCK_S3_SECRET_ACCESS_KEY: 'hunter2',
}

test("S3 takes a bucket, a region and credentials; without an endpoint it is Amazon's", () => {
  const expected = { bucket: 'shiplock', region: 'eu-central-1', accessKeyId: 'key-id', secretAccessKey: 'hunter2' }
  assert.deepEqual(readConfig(S3).s3, { ...expected, endpoint: null, forcePathStyle: false })
  const own = { ...S3, SHIPLOCK_S3_ENDPOINT: 'http://s3.example:9000/', SHIPLOCK_S3_FORCE_PATH_STYLE: 'true' }
  assert.deepEqual(readConfig(own).s3, { ...expected, endpoint: 'http://s3.example:9000', forcePathStyle: true })
})

test('one setting of S3 makes every other one that has no default needed, and all mistakes are reported together', () => {
  for (const given of Object.keys(S3)) {
    const mistakes = mistakesOf({
      [given]: 'x',
      SHIPLOCK_S3_ENDPOINT: 's3.example',
      SHIPLOCK_S3_FORCE_PATH_STYLE: 'yes',
    })
    const named = mistakes.map((mistake) => mistake.split(' ', 1)[0])
    const missing = Object.keys(S3).filter((name) => name !== given)
    assert.deepEqual(named, ['SHIPLOCK_S3_ENDPOINT', ...missing, 'SHIPLOCK_S3_FORCE_PATH_STYLE'])
  }
})

test('a misspelt setting of S3 does not leave the objects on the disk unnoticed', () => {
  const mistakes = mistakesOf({ SHIPLOCK_S3_BUKET: 'shiplock' })
  assert.equal(mistakes.length, Object.keys(S3).length + 1)
  assert.equal(mistakes.at(-1), 'SHIPLOCK_S3_BUKET is not a setting; did you mean SHIPLOCK_S3_BUCKET?')
})

test('a misspelt setting is a mistake, and so is the file of a setting that is no secret', () => {
  assert.deepEqual(mistakesOf({ SHIPLOCK_DATADIR: 'x' }), [
    'SHIPLOCK_DATADIR is not a setting; did you mean SHIPLOCK_DATA_DIR?',
  ])
  assert.deepEqual(mistakesOf({ SHIPLOCK_PORT_FILE: 'x' }), [
    'SHIPLOCK_PORT_FILE is not supported: SHIPLOCK_PORT is no secret, so set it directly',
  ])
})

test('variables of other programs and of later versions are left alone', () => {
  const names = [
    'URL',
    'KEY',
    'RUN',
    'DIR',
    'ID_TOKEN',
    'AUDIENCE',
    'SERVICE_HOST',
    'PORT_8420_TCP',
    'TEST_DATABASE_URL',
  ]
  const env = Object.fromEntries(names.map((name) => [`SHIPLOCK_${name}`, 'x']))
  assert.deepEqual(mistakesOf(env), [])
})

test('intelligence is fetched from hosts that are allowed by name, and from no other', () => {
  assert.equal(readConfig({}).intel, null)
  const intel = readConfig({
    SHIPLOCK_INTEL_EPSS_URL: 'https://epss.example/current.csv.gz',
    SHIPLOCK_INTEL_OSV_URLS: 'https://osv.example/npm/all.zip, https://osv.example/Go/all.zip',
    SHIPLOCK_INTEL_HOSTS: 'EPSS.example, osv.example',
  }).intel
  assert.deepEqual(intel, {
    kevUrl: null,
    epssUrl: 'https://epss.example/current.csv.gz',
    osvUrls: ['https://osv.example/npm/all.zip', 'https://osv.example/Go/all.zip'],
    hosts: ['epss.example', 'osv.example'],
  })
  const mistakes = mistakesOf({
    SHIPLOCK_INTEL_KEV_URL: 'https://kev.example/kev.json',
    SHIPLOCK_INTEL_OSV_URLS: 'all.zip',
  })
  assert.deepEqual(
    mistakes.map((mistake) => mistake.split(' ', 1)[0]),
    ['SHIPLOCK_INTEL_KEV_URL', 'SHIPLOCK_INTEL_OSV_URLS'],
  )
})

test('all mistakes are reported together', () => {
  const env = Object.fromEntries(REFUSED)
  assert.equal(mistakesOf(env).length, new Set(Object.keys(env)).size)
})

test('no mistake repeats a secret', () => {
  const mistakes = mistakesOf({ SHIPLOCK_SECRET_KEY: 'hunter2', DATABASE_URL: 'mysql://user:hunter2@db.example/x' })
  assert.equal(mistakes.length, 2)
  assert.doesNotMatch(mistakes.join(), /hunter2/)
})

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = RSA.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString().trim()
const APP = {
  SHIPLOCK_GITHUB_APP_ID: '12345',
  SHIPLOCK_GITHUB_PRIVATE_KEY: PEM,
  SHIPLOCK_GITHUB_WEBHOOK_SECRET: 'new secret, old secret',
}

test('the App takes a key as text, with escaped line breaks, or in a file, and two webhook secrets', () => {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-config-'))
  try {
    const path = join(directory, 'app.pem')
    writeFileSync(path, `${PEM}\n`)
    for (const key of [PEM, PEM.replaceAll('\n', '\\n'), path]) {
      assert.deepEqual(readConfig({ ...APP, SHIPLOCK_GITHUB_PRIVATE_KEY: key }).hostApps.github, {
        appId: '12345',
        privateKey: PEM,
        webhookSecrets: ['new secret', 'old secret'],
        apiUrl: 'https://api.github.com',
      })
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('an Enterprise Server has its API under /api/v3', () => {
  const config = readConfig({ ...APP, SHIPLOCK_GITHUB_API_URL: 'https://git.example/api/v3/' })
  assert.deepEqual(
    [config.codeHosts.github.url, config.hostApps.github?.apiUrl],
    ['https://git.example/api/v3', 'https://git.example/api/v3'],
  )
  assert.deepEqual(readConfig({ SHIPLOCK_GITHUB_API_URL: 'https://git.example/api/v3' }).hostApps, {})
})

test('one setting of the App makes the others needed', () => {
  for (const [given, value] of Object.entries(APP)) {
    const missing = Object.keys(APP).filter((name) => name !== given)
    assert.deepEqual(
      mistakesOf({ [given]: value }).map((mistake) => mistake.split(' ', 1)[0]),
      missing,
    )
  }
})

const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
const PUBLIC = RSA.publicKey.export({ type: 'spki', format: 'pem' })

for (const [what, key] of [
  ['a key of another kind', EC.toString()],
  ['a public key', PUBLIC.toString()],
  ['a damaged key', `${PEM.slice(0, 300)}\n-----END RSA PRIVATE KEY-----`],
  ['a path without a file', '/nowhere/hunter2.pem'],
  ['a key without its first line', 'MIIEpAIBAAKCAQEA-hunter2'],
] as const) {
  test(`${what} is no RSA private key, and no message repeats a part of it`, () => {
    const mistakes = mistakesOf({ ...APP, SHIPLOCK_GITHUB_APP_ID: 'Iv1.abc', SHIPLOCK_GITHUB_PRIVATE_KEY: key })
    assert.deepEqual(
      mistakes.map((mistake) => mistake.split(' ', 1)[0]),
      ['SHIPLOCK_GITHUB_APP_ID', 'SHIPLOCK_GITHUB_PRIVATE_KEY'],
    )
    const parts = key.split('\n').filter((line) => line !== '' && !line.includes('---'))
    for (const part of parts) assert.ok(!mistakes.join().includes(part))
  })
}

test('more than two webhook secrets are a mistake, and no message repeats them', () => {
  for (const secrets of ['hunter1,hunter2,hunter3', ',']) {
    const [mistake, ...others] = mistakesOf({ ...APP, SHIPLOCK_GITHUB_WEBHOOK_SECRET: secrets })
    assert.match(mistake ?? '', /^SHIPLOCK_GITHUB_WEBHOOK_SECRET must be a secret, or 2 secrets/)
    assert.ok(!mistake?.includes('hunter'))
    assert.deepEqual(others, [])
  }
})
