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
const LOOK_EVERY_MS = 100
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
    const idleMib = await peakMib(server, delay(IDLE_MS))
    const readingMib = await peakMib(server, importFile(server, report(), 'acme/large'))
    const idleMs = await p99Ms(server, delay(IDLE_MS))
    const readingMs = await p99Ms(server, importFile(server, report(), 'acme/large-too'))
    return { memory: { ours: readingMib - idleMib, bare: idleMib }, p99: { ours: readingMs, bare: idleMs } }
  } finally {
    await stop()
  }
}

type Ready = { url: string; key: { key: string } }

type Server = { url: string; key: string }

async function peakMib({ url }: Server, work: Promise<unknown>): Promise<number> {
  const seen = await repeat(work, LOOK_EVERY_MS, () => residentMib(url))
  return Math.max(...seen)
}

async function p99Ms({ url, key }: Server, work: Promise<unknown>): Promise<number> {
  const times = await repeat(work, PAUSE_MS, async () => {
    const startedAt = performance.now()
    const response = await fetch(`${url}/v1/runs?limit=10`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    return performance.now() - startedAt
  })
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

/** Does something over and over, with pauses, until the work is done. */
async function repeat(work: Promise<unknown>, pauseMs: number, once: () => Promise<number>): Promise<number[]> {
  const seen: number[] = []
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  while (!done) {
    seen.push(await once())
    await delay(pauseMs)
  }
  await ended
  return seen
}
