import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Round } from './benchmark.ts'
import { SHIPLOCK, startProgram } from './child-program.ts'
import { importFile } from './import-report.ts'
import { writeLargeSarif } from './large-sarif.ts'
import { onNewDirectory } from './new-directory.ts'
import { residentMib } from './resident-memory.ts'
import { environmentOf } from './setting.ts'

const IDLE_MS = 3000
/** Between two requests, so that they measure the server and not each other. */
const PAUSE_MS = 5

export const largeReport: Benchmark<unknown>[] = [
  {
    name: 'memory for 1 GB of SARIF',
    about: 'of the server with its worker at most while it reads the report, over what it holds before; beside that',
    unit: 'MiB',
    bar: { of: 'ours', atMost: 256 },
    measure: async () => [(await measured()).memory],
  },
  {
    name: 'p99 of the API meanwhile',
    about: 'GET /v1/runs while 1 GB of SARIF is read, beside the same before',
    unit: 'ms',
    bar: null,
    measure: async () => [(await measured()).p99],
  },
]

type Measured = { memory: Round; p99: Round }
let measuring: Promise<Measured> | null = null

function measured(): Promise<Measured> {
  measuring ??= onNewDirectory(measure)
  return measuring
}

async function measure(directory: string): Promise<Measured> {
  const report = await writeLargeSarif(join(directory, 'large.sarif'))
  const { ready, stop } = await startProgram<Ready>(SHIPLOCK, environmentOf(join(directory, 'data')))
  const server = { url: ready.url, key: ready.key.key }
  try {
    const before = await watch(server, delay(IDLE_MS))
    const during = await watch(server, importFile(server, report, 'acme/large'))
    return {
      memory: { ours: during.peakMib - before.peakMib, bare: before.peakMib },
      p99: { ours: during.p99Ms, bare: before.p99Ms },
    }
  } finally {
    await stop()
  }
}

type Ready = { url: string; key: { key: string } }

/** Asks the server over and over until the work is done. */
async function watch({ url, key }: { url: string; key: string }, work: Promise<unknown>) {
  const times: number[] = []
  let peakMib = 0
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  while (!done) {
    const startedAt = performance.now()
    const response = await fetch(`${url}/v1/runs?limit=10`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    times.push(performance.now() - startedAt)
    peakMib = Math.max(peakMib, await residentMib(url))
    await delay(PAUSE_MS)
  }
  await ended
  return { peakMib, p99Ms: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN }
}
