import type { KnownRepository } from '../../src/security/formats/checkout/checkout.ts'
import { readReport } from '../../src/security/formats/read-report.ts'
import type { ParsedFinding } from '../../src/security/formats/report/parsed-report.ts'

const PIECE_BYTES = 65_536

const UNKNOWN: KnownRepository = { name: null, paths: [] }

/** Parses a report: the bytes or text of a file, or a document to be written as JSON. */
export async function parseReport(report: unknown, pieceBytes = PIECE_BYTES, repository = UNKNOWN) {
  const bytes = Buffer.isBuffer(report)
    ? report
    : Buffer.from(typeof report === 'string' ? report : JSON.stringify(report))
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const batches: ParsedFinding[][] = []
  const summary = await readReport(
    { open },
    'auto',
    async (batch) => {
      batches.push(batch)
    },
    async () => repository,
  )
  return { ...summary, count: summary.findings, findings: batches.flat(), batches: batches.map(({ length }) => length) }
}
