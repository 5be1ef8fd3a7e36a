// Tests the built package on Node 20, on Node 24 and in Chromium: `npm run test:sdk`, with
// arguments as `npm test` takes them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTestFiles } from '../../server/test/support/run-test-files.ts'
import { findChromium } from './support/chromium.ts'
import { installNode20 } from './support/node-20.ts'
import { installPackage, type Published } from './support/published.ts'

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
  const node20 = await installNode20()
  await installPackage(consumer)
  return { consumer, chromium, node20, node24: process.execPath }
}

function runWith(published: Published): Promise<number> {
  const env = { SHIPLOCK_TEST_PUBLISHED: JSON.stringify(published) }
  return runTestFiles({ include: 'sdk/test/published/**/*.test.ts', exclude: [] }, env)
}
