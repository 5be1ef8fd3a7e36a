import { join } from 'node:path'
import { npm } from './npm.ts'
import type { Runtime } from './runtimes.ts'

/** What the tests of the built package run with. */
export type Published = {
  /** A directory in which the package is installed, as a user does it. */
  consumer: string
  chromium: string
  runtimes: Runtime[]
}

/** What the runner has prepared. */
export function published(): Published {
  const text = process.env.SHIPLOCK_TEST_PUBLISHED
  if (!text) throw new Error('Run this test with "npm run test:sdk".')
  return JSON.parse(text)
}

/** Builds and packs the SDK, and installs the package in an empty directory. */
export async function installPackage(directory: string): Promise<void> {
  await npm('run', '--silent', 'build', '--workspace', 'sdk')
  const [{ filename }] = JSON.parse(await npm('pack', './sdk/dist', '--pack-destination', directory, '--json'))
  await npm('install', '--prefix', directory, '--no-audit', '--no-fund', join(directory, filename))
}
