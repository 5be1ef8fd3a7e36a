import { createHash } from 'node:crypto'
import type { Json } from '../../support/json.ts'
import { acknowledged, givesUp, type Journey, type World } from './journey.ts'
import { someRun } from './runs.ts'

const ARTIFACTS_MAX = 3
const ARTIFACT_BYTES_MAX = 100_000

/** A job reports its tests, and sends its files. */
export const reportJourney: Journey = async (world) => {
  const { client, journal, random } = world
  const runId = await someRun(world)
  if (!runId) return
  const job = world.nextName()
  const passed = random.below(1000)
  const tests = { kind: 'test-results', name: 'unit', data: { passed, failed: 0, skipped: 0, errors: 0 } }
  const body = { job: { name: job }, summary: `# ${job}`, attestations: [tests] }
  const report = acknowledged(await client.api('POST', `/v1/ci/runs/${runId}/reports`, body))
  if (!report) return
  journal.note({ kind: 'report', id: report.report_id, run_id: report.run_id, job, passed })
  if (!givesUp(world)) await sendArtifacts(world, report)
}

async function sendArtifacts(world: World, report: Json): Promise<void> {
  const { client, journal, random } = world
  const files = Array.from({ length: 1 + random.below(ARTIFACTS_MAX) }, () => fileOf(world))
  const artifacts = files.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  const path = `/v1/ci/runs/${report.run_id}/reports/${report.report_id}/artifacts`
  const declared = acknowledged(await client.api('POST', path, { artifacts }))
  if (!declared || givesUp(world)) return
  for (const slot of declared.uploads) {
    const file = files.find((one) => one.path === slot.path)
    if (file) await client.put(slot.url, slot.headers, file.bytes)
  }
  if (givesUp(world)) return
  const ids = declared.uploads.map(({ artifact_id }: Json) => artifact_id)
  const completed = acknowledged(await client.api('POST', `${path}/complete`, { artifact_ids: ids }))
  for (const { artifact_id: id, status } of completed?.results ?? []) {
    const slot = declared.uploads.find(({ artifact_id }: Json) => artifact_id === id)
    const file = files.find((one) => one.path === slot.path)
    if (status === 'uploaded') journal.note({ kind: 'artifact', id, sha256: file?.sha256, size: file?.size })
  }
}

/** A file whose bytes follow from its name. */
function fileOf(world: World) {
  const path = `dist/${world.nextName()}`
  const size = world.random.below(ARTIFACT_BYTES_MAX)
  const bytes = Buffer.alloc(size, path)
  return { path, size, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
