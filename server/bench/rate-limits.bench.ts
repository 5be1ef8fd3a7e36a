import type { Benchmark } from './benchmark.ts'
import { compareServers } from './compared-servers.ts'
import type { Setting } from './setting.ts'

/** Counted, and never reached. */
const LIMIT = '1000000'

export const rateLimits: Benchmark<Setting> = {
  name: 'createCiRun with rate limits',
  about: 'POST /v1/ci/runs with the rate limits that all processes share, beside the same without them',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.9 },
  measure: (setting) => compareServers(setting, { SHIPLOCK_RATE_LIMIT_PER_MINUTE: LIMIT }, {}),
}
