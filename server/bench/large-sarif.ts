import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReportFile } from './import-report.ts'

const RESULTS = 100_000
/**
 * Where data comes from and flows to: most of what such a report is made of, and nothing that is
 * kept.
 */
const STEPS = 20
const STEP_CHARS = 400

/**
 * Writes a SARIF report of about 1 GB to a file, as scanners that follow the flow of data do.
 * Answers what opens it.
 */
export async function writeLargeSarif(path: string): Promise<() => ReportFile> {
  const hash = createHash('sha256')
  let size = 0
  const measured = async function* () {
    for (const text of texts()) {
      const bytes = Buffer.from(text)
      hash.update(bytes)
      size += bytes.length
      yield bytes
    }
  }
  await pipeline(measured, createWriteStream(path))
  const sha256 = hash.digest('hex')
  return () => ({ size, sha256, body: Readable.toWeb(createReadStream(path)) as ReportFile['body'] })
}

function* texts(): Generator<string> {
  const driver = {
    name: 'flow-scanner',
    version: '1.0.0',
    rules: [{ id: 'flow', defaultConfiguration: { level: 'error' } }],
  }
  yield `{"version":"2.1.0","runs":[{"tool":${JSON.stringify({ driver })},"results":[`
  for (let nth = 0; nth < RESULTS; nth += 1) yield `${nth === 0 ? '' : ','}${JSON.stringify(result(nth))}`
  yield ']}]}'
}

function result(nth: number) {
  const physicalLocation = {
    artifactLocation: { uri: `src/module-${nth % 997}/handler.ts` },
    region: { startLine: 1 + nth, snippet: { text: `query(row${nth})` } },
  }
  const step = (at: number) => ({ location: { physicalLocation, message: { text: `${at} `.repeat(STEP_CHARS / 3) } } })
  return {
    ruleId: 'flow',
    message: { text: `Data of request ${nth} reaches a query.` },
    locations: [{ physicalLocation }],
    codeFlows: [{ threadFlows: [{ locations: Array.from({ length: STEPS }, (_, at) => step(at)) }] }],
  }
}
