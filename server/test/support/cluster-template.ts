import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER } from '../../src/platform/db/embedded/cluster.ts'

/** The setting of a test run that names the template's directory. */
export const CLUSTER_TEMPLATE = 'SHIPLOCK_TEST_CLUSTER_TEMPLATE'

/** The cluster, and the password that it asks for. */
const PARTS = [CLUSTER, 'postgres-password']

/** Copies the cluster of a data directory whose server is stopped. */
export function makeClusterTemplate(dataDir: string): string {
  const template = join(dataDir, 'template')
  mkdirSync(template)
  copy(dataDir, template)
  return template
}

/**
 * Gives an empty data directory the cluster that a first start would create and migrate, which
 * takes a second of processor time. Does nothing if a file is run by hand, without the runner.
 */
export function copyClusterTemplate(dataDir: string): void {
  const template = process.env[CLUSTER_TEMPLATE]
  if (template === undefined) return
  mkdirSync(dataDir, { recursive: true })
  if (readdirSync(dataDir).length > 0) return
  copy(template, dataDir)
}

/** With the owners of the files: root's servers run as another user. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', ...PARTS.map((part) => join(from, part)), to])
}
