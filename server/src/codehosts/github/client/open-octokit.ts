import type { Octokit as CoreOctokit } from '@octokit/core'
import type { PaginateInterface } from '@octokit/plugin-paginate-rest'
import type { Log } from '../../../platform/log.ts'
import { createApiFetch } from '../../kit/api-fetch.ts'
import { markRateLimit } from './host-error.ts'

/** What authenticates us as an App, and where. */
export type AppKey = { app_id: string; private_key: string; api_url: string }

export type Octokit = CoreOctokit & { paginate: PaginateInterface }

/** The time limit of a request, and the unit of the waits between its tries. */
export type Pace = {
  timeLimitMs: number
  waitUnitMs: number
  /** Whether a request is sent once only, and no limit is waited for. */
  once?: boolean
}

/** One installation's octokits, or the App's own. */
export type OpenOctokit = {
  key: AppKey
  reads: Octokit
  /** Sends at most one request a second, as GitHub asks for requests that change something. */
  writes: Octokit
  /** Makes a request of `reads` return the body as a stream. */
  streaming: { fetch: typeof fetch; parseSuccessResponseBody: false }
}

type OpenOptions = { key: AppKey; installation: string | null; pace: Pace; log: Log }

/** Longer waits would hold a worker: the job is tried again instead. */
const WAIT_SECONDS_MAX = 60
const LIMITED_RETRIES_MAX = 2
const FAILED_RETRIES_MAX = 2
/** Every answer but a failure of the server is final. */
const FINAL_STATUSES = [...Array.from({ length: 100 }, (_, index) => 400 + index), 501]
/** Newer servers keep answering in the form of this version. */
const API_VERSION = '2022-11-28'

/** Loads octokit when it is first used, because only jobs and some commands need it. */
export async function openOctokit(options: OpenOptions): Promise<OpenOctokit> {
  const [{ Octokit }, { createAppAuth }, { throttling }, { retry }, { paginateRest }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/auth-app'),
    import('@octokit/plugin-throttling'),
    import('@octokit/plugin-retry'),
    import('@octokit/plugin-paginate-rest'),
  ])
  const { key, installation, pace } = options
  const log = quietLog(options.log)
  const installed = installation === null ? {} : { installationId: installation }
  const auth = createAppAuth({ appId: key.app_id, privateKey: key.private_key, ...installed, log })
  const fetchOptions = {
    provider: 'github' as const,
    origin: new URL(key.api_url).origin,
    timeLimitMs: pace.timeLimitMs,
  }
  // The plugin that is named last is the outermost: a limit is waited for after the retries.
  const Limited = Octokit.plugin(markRateLimit, retry, throttling, paginateRest)
  const common = {
    authStrategy: () => auth,
    baseUrl: key.api_url,
    userAgent: 'shiplock',
    log,
    request: { fetch: createApiFetch(fetchOptions) },
    retry: {
      doNotRetry: FINAL_STATUSES,
      retries: pace.once ? 0 : FAILED_RETRIES_MAX,
      retryAfterBaseValue: pace.waitUnitMs,
    },
  }
  const writing = { id: installation ?? 'app', retryAfterBaseValue: pace.waitUnitMs, ...(pace.once ? noWaits : waits) }
  return {
    key,
    reads: versioned(new Limited({ ...common, throttle: { ...writing, write: UNPACED } })),
    writes: versioned(new Limited({ ...common, throttle: writing })),
    streaming: { fetch: createApiFetch({ ...fetchOptions, stream: true }), parseSuccessResponseBody: false },
  }
}

const waits = { onRateLimit: mayWait, onSecondaryRateLimit: mayWait }
const noWaits = { onRateLimit: () => false, onSecondaryRateLimit: () => false }

function mayWait(seconds: number, _options: unknown, _octokit: unknown, retries: number): boolean {
  return seconds <= WAIT_SECONDS_MAX && retries < LIMITED_RETRIES_MAX
}

/**
 * Takes the place of the plugin's limiter of writes. The plugin also counts queries by GraphQL as
 * writes, and would let an import send only one a second.
 */
const UNPACED = { key: () => ({ schedule: async (_options: unknown, task: () => unknown) => task() }) }

function versioned(octokit: Octokit): Octokit {
  octokit.hook.before('request', (options) => {
    options.headers['x-github-api-version'] = API_VERSION
  })
  return octokit
}

/** Octokit's messages name addresses and times, and contain neither tokens nor keys. */
function quietLog(log: Log) {
  const write = (message: string) => log.debug({ octokit: message }, 'octokit')
  return { debug: () => {}, info: () => {}, warn: write, error: write }
}
