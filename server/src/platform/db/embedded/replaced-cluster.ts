import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CLUSTER, synchronizeDirectory } from './cluster.ts'

/** The cluster that will replace the present one, while data is copied into it. */
export const NEW_CLUSTER = 'postgres.upgrading'
/** A file in the new cluster: it is complete, and the major version of the one that it replaces. */
const COMPLETE = 'shiplock-replaces'

/** The name under which the replaced cluster is kept. */
export function getReplacedName(major: number): string {
  return `${CLUSTER}-${major}`
}

/**
 * Puts the complete new cluster into the place of the present one, which is kept. Both are stopped.
 * From the first rename on, the next start completes it.
 */
export async function applyReplacement(dataDir: string, major: number): Promise<void> {
  const [present, next] = [join(dataDir, CLUSTER), join(dataDir, NEW_CLUSTER)]
  await writeFile(join(next, COMPLETE), `${major}\n`, { flush: true })
  await synchronizeDirectory(next)
  await rename(present, join(dataDir, getReplacedName(major)))
  await synchronizeDirectory(dataDir)
  await completeReplacement(dataDir)
}

/** Completes a replacement that was interrupted between its two renames. */
export async function completeReplacement(dataDir: string): Promise<void> {
  const [present, next] = [join(dataDir, CLUSTER), join(dataDir, NEW_CLUSTER)]
  if ((await exists(present)) || !(await exists(join(next, COMPLETE)))) return
  await rename(next, present).catch(async (error) => {
    if (!(await exists(present))) throw error // otherwise another process has just completed it
  })
  await synchronizeDirectory(dataDir)
  await rm(join(present, COMPLETE), { force: true })
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
