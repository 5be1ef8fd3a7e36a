import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Round } from './benchmark.ts'
import { BARE, SHIPLOCK, startProgram } from './child-program.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf } from './setting.ts'

const ROUNDS = 3
const POLL_MS = 5

export const firstStart: Benchmark<unknown> = {
  name: 'first start',
  about: 'on an empty directory until /readyz is 200, beside PostgreSQL and node:http on another one',
  unit: 'ms',
  bar: { of: 'ours', atMost: 6000 },
  measure: () => repeat(async () => ({ ours: await onNewDirectory(startOurs), bare: await onNewDirectory(startBare) })),
}

export const secondStart: Benchmark<unknown> = {
  name: 'second start',
  about: 'on a directory that is there, until /readyz is 200, beside PostgreSQL and node:http',
  unit: 'ms',
  bar: { of: 'ours', atMost: 3000 },
  measure: () => repeat(() => onNewDirectory(startAgain)),
}

async function repeat(round: () => Promise<Round>): Promise<Round[]> {
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) rounds.push(await round())
  return rounds
}

async function startAgain(directory: string): Promise<Round> {
  await startOurs(directory)
  return { ours: await startOurs(directory), bare: await startBare(directory) }
}

async function startOurs(directory: string): Promise<number> {
  return timeStart(SHIPLOCK, directory, async (url) => {
    while ((await fetch(`${url}/readyz`)).status !== 200) await delay(POLL_MS)
  })
}

function startBare(directory: string): Promise<number> {
  return timeStart(BARE, directory, async () => {})
}

async function timeStart(program: string[], directory: string, untilReady: (url: string) => Promise<void>) {
  const startedAt = performance.now()
  const { ready, stop } = await startProgram<{ url: string }>(program, environmentOf(directory))
  try {
    await untilReady(ready.url)
    return performance.now() - startedAt
  } finally {
    await stop()
  }
}
