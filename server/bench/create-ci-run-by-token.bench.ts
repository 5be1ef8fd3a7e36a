import { createTrust } from '../src/access/oidc-trusts/trusts/manage-trusts.ts'
import { OPERATOR_GRANTOR } from '../src/access/scopes.ts'
import { NEW_RUNS_PER_DAY_MAX } from '../src/ci/runs/run-intake.ts'
import { listConnectedAt } from '../src/repositories/followed-repository.store.ts'
import { githubClaims } from '../test/support/oidc-claims.ts'
import { type Issuer, loopbackFetch, startIssuer } from '../test/support/oidc-issuer.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { newRun } from './ci-runs.ts'
import { type Message, requestsPerSecond } from './load.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 5
const WARM_UP_SECONDS = 2
const SECONDS = 3
/** More than any machine stores in all rounds: each trust may report 2,000 runs a day. */
const CREDENTIALS = 200_000 / NEW_RUNS_PER_DAY_MAX
const TOKEN_SECONDS = 3600
const CLOCK = { now: () => new Date() }

/** The credential of a request, and the repository of its run. */
type Caller = { credential: string; repository: string }

export const createCiRunByToken: Benchmark<Setting> = {
  name: 'createCiRun by token',
  about: 'POST /v1/ci/runs with the OIDC token of a job that reports many runs beside the same with an API key',
  unit: 'requests/s',
  bar: { of: 'ratio', atLeast: 0.85 },
  async measure(setting) {
    const issuer = await startIssuer()
    try {
      const byToken = await createJobs(setting, issuer)
      const keys = await setting.createKeys(CREDENTIALS)
      const byKey = keys.map((credential, at) => ({ credential, repository: repositoryOf(at) }))
      await load(setting, byToken, WARM_UP_SECONDS)
      await load(setting, byKey, WARM_UP_SECONDS)
      return await interleave(
        ROUNDS,
        () => load(setting, byToken, SECONDS),
        () => load(setting, byKey, SECONDS),
      )
    } finally {
      await issuer.close()
    }
  },
}

let sent = 0

function load({ ours }: Setting, callers: readonly Caller[], seconds: number): Promise<number> {
  const next = () => newRunOf(callers[sent++ % callers.length] as Caller)
  return requestsPerSecond({ method: 'POST', url: `${ours.url}/v1/ci/runs`, seconds }, next)
}

function newRunOf({ credential, repository }: Caller): Message {
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' }
  return { headers, body: JSON.stringify({ ...newRun(), repository: `https://github.com/${repository}.git` }) }
}

/** Jobs of many repositories, each with a trust of its own. */
function createJobs({ sql, ours }: Setting, issuer: Issuer): Promise<Caller[]> {
  const request = {
    issuer: issuer.url,
    audience: null,
    provider: 'github',
    scopes: ['write:ci'],
    expiresAt: null,
  } as const
  const config = { baseUrl: ours.url }
  const needs = { sql, clock: CLOCK, config, outbound: loopbackFetch(), connectedRepositories: listConnectedAt }
  const iat = Math.floor(CLOCK.now().getTime() / 1000)
  return Promise.all(
    Array.from({ length: CREDENTIALS }, async (_, at) => {
      const repository = repositoryOf(at)
      const { audience } = await createTrust(needs, ours.orgId, OPERATOR_GRANTOR, {
        ...request,
        trusted_events: [],
        self_hosted: false,
        speaks_for: [],
        as: 'uploaded' as const,
        name: `bench ${at}`,
        conditions: { repository },
      })
      const claims = { ...githubClaims(), repository, aud: audience, iat, exp: iat + TOKEN_SECONDS }
      return { credential: await issuer.sign(claims), repository }
    }),
  )
}

function repositoryOf(at: number): string {
  return `acme/shop-${at}`
}
