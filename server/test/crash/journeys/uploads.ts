import { createHash } from 'node:crypto'
import { sarif, sarifResult } from '../../support/sarif.ts'
import { acknowledged, givesUp, type Journey } from './journey.ts'

const RESULTS_MAX = 150

/**
 * A security report is uploaded, each for a repository of its own, so that its findings can be
 * counted.
 */
export const uploadJourney: Journey = async (world) => {
  const { client, journal, random } = world
  const name = world.nextName()
  const repository = `acme/scanned-${name}`
  const results = 1 + random.below(RESULTS_MAX)
  const bytes = Buffer.from(
    JSON.stringify(sarif(Array.from({ length: results }, (_, at) => sarifResult(`rule-${at}`)))),
  )
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { filename: `${name}.sarif`, size: bytes.length, sha256, repository }
  const created = acknowledged(await client.api('POST', '/v1/security/uploads', body))
  if (!created?.put || givesUp(world)) return
  await client.put(created.put.url, created.put.headers, bytes)
  if (givesUp(world)) return
  const { id } = created.upload
  if (!acknowledged(await client.api('POST', `/v1/security/uploads/${id}/complete`))) return
  journal.note({ kind: 'upload', id, repository, results })
}
