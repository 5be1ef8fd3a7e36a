// Tests the built package on Node 20, 22 and 24, Deno and Bun, and in Chromium: `npm run test:sdk`.
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium } from '../../server/test/support/chromium.ts'
import { ROOT, runTestFiles } from '../../server/test/support/run-test-files.ts'
import { installPackage, type Published } from './support/published.ts'
import { installRuntimes } from './support/runtimes.ts'

process.exitCode = await run()

async function run(): Promise<number> {
  const consumer = await mkdtemp(join(tmpdir(), 'shiplock-sdk-consumer-'))
  try {
    return await runWith(await prepare(consumer))
  } catch (error) {
    console.error((error as Error).message)
    return 1
  } finally {
    await rm(consumer, { recursive: true, force: true })
  }
}

async function prepare(consumer: string): Promise<Published> {
  const chromium = await findChromium()
  const runtimes = await installRuntimes()
  await installPackage(consumer)
  return { consumer, chromium, runtimes }
}

function runWith(published: Published): Promise<number> {
  const env = { SHIPLOCK_TEST_PUBLISHED: JSON.stringify(published) }
  return runTestFiles(globSync('sdk/test/published/**/*.test.ts', { cwd: ROOT }), { env })
}
