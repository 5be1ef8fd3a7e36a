import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertApiKey } from '../../src/access/api-key.store.ts'
import { createKeyText, hashApiKey } from '../../src/access/api-key.ts'
import { SCOPES, type Scope } from '../../src/access/scopes.ts'
import type { CodeHosts } from '../../src/codehosts/code-host.ts'
import { readConfig, withPort } from '../../src/config.ts'
import { insertOrganization } from '../../src/organizations/organization.store.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { loadSpread } from '../../src/platform/db/spread.ts'
import type { DatabaseAddress } from '../../src/platform/db/sql.ts'
import { selectPort } from '../../src/platform/http/listener.ts'
import { createUuid } from '../../src/platform/ids.ts'
import type { Log } from '../../src/platform/log.ts'
import type { Resolve } from '../../src/platform/outbound/guarded-fetch.ts'
import type { Services } from '../../src/services.ts'
import { openServices } from '../../src/start/open-services.ts'
import { serve } from '../../src/start/serve.ts'
import { createTestDatabase } from './database.ts'
import type { Json } from './json.ts'
import { s3Environment, s3UnderTest } from './s3-under-test.ts'
import { collectedLog, QUIET } from './secrets/collected-logs.ts'
import { noteDataDirectory, noteSettings } from './secrets/note-secrets.ts'

/** A real S3 store has its own clock, and accepts no URL that was signed in another year. */
const START = s3UnderTest ? new Date().toISOString() : '2026-03-04T05:06:07.890Z'

/** A clock that moves only with `advance`. */
class FrozenClock implements Clock {
  #now: Date

  constructor(start = START) {
    this.#now = new Date(start)
  }

  now(): Date {
    return new Date(this.#now)
  }

  advance(ms: number): void {
    this.#now = new Date(this.#now.getTime() + ms)
  }
}

export type Caller = { orgId: string; slug: string; keyId: string; key: string }

type CallerOptions = {
  plan?: string
  scopes?: readonly Scope[]
  environment?: 'production' | 'development'
  expiresAt?: Date
  /** Globs of the repositories that the key speaks about. The default is all. */
  repositories?: readonly string[]
  /** An organization that is there already. */
  orgId?: string
  /** The person who created the key. */
  createdByUserId?: string
}

export type Answer = { status: number; headers: Headers; body: Json; text: string }

type RequestOptions = {
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

/** The API on its own port and its own database. */
export type TestApi = {
  url: string
  clock: FrozenClock
  services: Services
  /** For a worker of the test's own. */
  database: { url: string; address: Exclude<DatabaseAddress, string> }
  /** An organization with a key; every call makes a new one. */
  caller(options?: CallerOptions): Promise<Caller>
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  close(): Promise<void>
}

type TestApiOptions = {
  env?: Record<string, string>
  /** Another API over the same data. */
  beside?: TestApi
  /** Where the clock stands at first. A worker in another process has the time of the machine. */
  start?: string
  /** Another address of the same database. */
  through?: Exclude<DatabaseAddress, string>
  codeHosts?: CodeHosts
  /** The default writes fatal errors to standard error. */
  log?: Log
  /** Looks up the names in addresses that tenants choose. */
  resolve?: Resolve
}

type Shared = { database: Awaited<ReturnType<typeof createTestDatabase>>; dataDir: string }
const shared = new WeakMap<TestApi, Shared>()

export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const own = options.beside
    ? null
    : { database: await createTestDatabase(), dataDir: await mkdtemp(join(tmpdir(), 'shiplock-api-')) }
  const { database, dataDir } = own ?? (shared.get(options.beside as TestApi) as Shared)
  const port = await selectPort('127.0.0.1', 0)
  const settings = readConfig({
    SHIPLOCK_PORT: '0',
    SHIPLOCK_DATA_DIR: dataDir,
    SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0',
    SHIPLOCK_LOG_LEVEL: QUIET,
    SHIPLOCK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    ...(s3UnderTest && s3Environment(s3UnderTest)),
    ...options.env,
  })
  const config = withPort(settings, port.number)
  const clock = options.beside?.clock ?? new FrozenClock(options.start)
  const opened = await openServices(
    config,
    { address: options.through ?? database.connection },
    {
      applicationName: 'test',
      connections: 8,
      clock,
      log: options.log ?? collectedLog(config.logLevel),
      ...(options.resolve && { resolve: options.resolve }),
      ...(options.codeHosts && { codeHosts: options.codeHosts }),
    },
  )
  const { services } = opened
  await loadSpread(services.sql)
  noteDataDirectory(dataDir)
  noteSettings(options.env ?? {})
  const serving = await serve(services, port, 0)
  const url = `http://127.0.0.1:${port.number}`
  const api: TestApi = {
    url,
    clock,
    services,
    database: { url: database.url, address: database.connection },
    caller: (callerOptions) => createCaller(services, callerOptions),
    request: (method, path, requestOptions) => request(url + path, method, requestOptions),
    close: async () => {
      await serving.close()
      await opened.close()
      if (!own) return
      await own.database.drop()
      await rm(own.dataDir, { recursive: true, force: true })
    },
  }
  shared.set(api, { database, dataDir })
  return api
}

async function createCaller({ sql, clock }: Services, options: CallerOptions = {}): Promise<Caller> {
  const now = clock.now()
  const orgId = options.orgId ?? createUuid(now)
  const slug = `org-${orgId.slice(-12)}`
  if (!options.orgId)
    await insertOrganization(sql, { id: orgId, slug, name: slug, plan: options.plan ?? 'enterprise' }, now)
  const environment = options.environment ?? 'production'
  const key = createKeyText(environment)
  const keyId = createUuid(now)
  await insertApiKey(sql, orgId, {
    id: keyId,
    name: 'test key',
    key_sha256: hashApiKey(key),
    environment,
    scopes: [...(options.scopes ?? SCOPES)],
    created_by: 'test',
    created_by_user_id: options.createdByUserId ?? null,
    created_at: now,
    expires_at: options.expiresAt ?? null,
    repositories: options.repositories ? [...options.repositories] : null,
  })
  return { orgId, slug, keyId, key }
}

async function request(url: string, method: string, { key, body, headers = {} }: RequestOptions = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  }
}
