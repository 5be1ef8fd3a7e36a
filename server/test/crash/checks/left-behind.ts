import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatArtifactKey } from '../../../src/ci/reports/artifact-object.ts'
import { forgetUnfinishedArtifacts } from '../../../src/ci/reports/remove-artifacts.job.ts'
import { readConfig } from '../../../src/config.ts'
import { DAY_MS } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { removeAbandoned, sweepObjects } from '../../../src/platform/objects/remove-abandoned.job.ts'
import { expireUploadsJob } from '../../../src/security/uploads/expire-uploads.job.ts'
import { getReportKey } from '../../../src/security/uploads/upload-file.ts'
import type { Services } from '../../../src/services.ts'
import { openDatabase } from '../../../src/start/database.ts'
import { openServices } from '../../../src/start/open-services.ts'
import type { Installation } from '../installation.ts'
import type { Loss } from './loss.ts'

/** By then, all slots have expired and every sweeper has had its turn. */
const LATER_MS = 3 * DAY_MS

/**
 * Runs the sweepers on the data of the stopped program, as if days had passed, and compares the
 * stored files with the rows that refer to them.
 */
export async function findLeftBehind({ dataDir, settings }: Installation): Promise<Loss[]> {
  const config = readConfig(settings)
  const database = await openDatabase(config, () => {})
  const clock = { now: () => new Date(Date.now() + LATER_MS) }
  const log = createLog('error')
  const { services, close } = await openServices(config, database, {
    applicationName: 'crash test',
    connections: 2,
    clock,
    log,
  })
  try {
    for (const sweeper of [expireUploadsJob, forgetUnfinishedArtifacts, removeAbandoned, sweepObjects])
      await sweeper.run(services, {})
    return compare(await listFiles(join(dataDir, 'objects')), await listReferred(services))
  } finally {
    await close()
    await database.close()
  }
}

async function listFiles(directory: string): Promise<Set<string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)),
  )
}

async function listReferred({ sql }: Services): Promise<Set<string>> {
  const artifacts = await sql<{ org_id: string; id: string }[]>`
    select org_id, id
    from ci_artifacts
    where status = 'uploaded'`
  const uploads = await sql<{ org_id: string; id: string }[]>`
    select org_id, id
    from security_uploads
    where status = 'finished'
      and artifact_id is null`
  return new Set([
    ...artifacts.map(({ org_id, id }) => formatArtifactKey(org_id, id)),
    ...uploads.map(({ org_id, id }) => getReportKey(org_id, id)),
  ])
}

function compare(files: Set<string>, referred: Set<string>): Loss[] {
  const orphans = [...files.difference(referred)].map((id) => ({
    kind: 'file without a row',
    id,
    expected: null,
    found: id,
  }))
  const missing = [...referred.difference(files)].map((id) => ({
    kind: 'row without a file',
    id,
    expected: id,
    found: null,
  }))
  return [...orphans, ...missing]
}
