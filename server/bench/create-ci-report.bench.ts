import { type Benchmark, interleave } from './benchmark.ts'
import { newRun } from './ci-runs.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 30
const ATTESTATIONS = 20
const ARTIFACTS = 50

export const createCiReport: Benchmark<Setting> = {
  name: 'report of 20 attestations and 50 artifacts',
  about: 'one createCiReport with 50 signed slots, beside JSON.parse and one INSERT a table of the same rows',
  unit: 'ms',
  bar: null,
  async measure({ ours, bare }) {
    const headers = { authorization: `Bearer ${ours.key}`, 'content-type': 'application/json' }
    const run = (await post(`${ours.url}/v1/ci/runs`, newRun(), headers)) as { id: string }
    const send = (url: string) => async (round: number) => {
      const body = report(round)
      const startedAt = performance.now()
      await post(url, body, headers)
      return performance.now() - startedAt
    }
    const toOurs = send(`${ours.url}/v1/ci/runs/${run.id}/reports`)
    const toBare = send(`${bare.url}/reports`)
    await toOurs(ROUNDS)
    await toBare(ROUNDS)
    return interleave(ROUNDS, toOurs, toBare)
  },
}

async function post(url: string, body: object, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: unknown }).data
}

/** Another job in each round, so that every report is a new one. */
function report(round: number) {
  return {
    job: { name: `build ${round}`, matrix: { os: 'linux', node: 24 }, runner: 'bench' },
    summary: '# Built\n\nAll is well.',
    attestations: Array.from({ length: ATTESTATIONS }, (_, at) => ({
      kind: 'test-results',
      name: `suite ${at}`,
      data: { passed: 100 + at, failed: 0, skipped: 2, errors: 0, durationSeconds: 12.5 },
    })),
    artifacts: Array.from({ length: ARTIFACTS }, (_, at) => ({
      path: `dist/part-${at}.tar.gz`,
      size: 1000 + at,
      sha256: (round * ARTIFACTS + at).toString(16).padStart(64, '0'),
    })),
  }
}
