import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readVersion } from './binaries.ts'

/** The major version of PostgreSQL that a cluster was made with, or null if there is no cluster. */
export async function readClusterMajor(cluster: string): Promise<number | null> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || null
}

export async function readBinariesMajor(binaries: string): Promise<number> {
  return Number.parseInt(await readVersion(binaries), 10)
}

/** PostgreSQL runs only clusters of its own major version. */
export async function checkMajorVersion(cluster: string, binaries: string): Promise<void> {
  const [made, own] = [await readClusterMajor(cluster), await readBinariesMajor(binaries)]
  if (made === null || made === own) return
  const found = `The database in ${cluster} was made with PostgreSQL ${made}, and this program has PostgreSQL ${own}.`
  if (made > own) throw new Error(`${found} Run the version of Shiplock that made it, or a newer one.`)
  const where = `a directory with the binaries of PostgreSQL ${made}`
  throw new Error(`${found} Stop Shiplock, then run: shiplock-server upgrade-postgres --from DIR (${where})`)
}
