import { isVexFormat, type UploadFormat } from '../../src/security/formats/catalogue.ts'
import { readFormat, readReport, readVexDocument } from '../../src/security/formats/read-report.ts'
import type { KnownRepository } from '../../src/security/formats/report/checkout.ts'
import { type ParsedFinding, ReportError, type ReportSource } from '../../src/security/formats/report/parsed-report.ts'
import type { OnFindings } from '../../src/security/formats/report/report-reading.ts'
import type { OnStatements, VexStatement } from '../../src/security/formats/report/vex-statement.ts'

const PIECE_BYTES = 65_536

const UNKNOWN: KnownRepository = { name: null, paths: [] }

/** Detects the format of a file and reads its findings or statements. */
export async function readAny(source: ReportSource, onFindings: OnFindings, onStatements: OnStatements) {
  const file = await readFormat(source, 'auto')
  return file.isVex ? readVexDocument(source, file.format, onStatements) : readReport(source, file.format, onFindings)
}

/** Detects the format of a report and reads it, also one that Shiplock reads as a VEX document. */
export async function readDetected(
  source: ReportSource,
  stated: 'auto' | UploadFormat,
  onFindings: OnFindings,
  repository = UNKNOWN,
) {
  const { format } = await readFormat(source, stated)
  if (isVexFormat(format)) throw new ReportError('A VEX document contains no findings.', format)
  return { ...(await readReport(source, format, onFindings, async () => repository)), format }
}

/** Detects the format of a VEX document and reads it. */
export async function parseVex(document: unknown, pieceBytes = PIECE_BYTES) {
  const source = { open: () => piecesOf(document, pieceBytes) }
  const { isVex, format } = await readFormat(source, 'auto')
  if (!isVex) throw new ReportError('The file is not a VEX document.', format)
  const stated: VexStatement[] = []
  const summary = await readVexDocument(source, format, async (batch) => {
    stated.push(...batch)
  })
  return { ...summary, format, stated }
}

/** Parses a report: the bytes or text of a file, or a document to be written as JSON. */
export async function parseReport(report: unknown, pieceBytes = PIECE_BYTES, repository = UNKNOWN) {
  const source = { open: () => piecesOf(report, pieceBytes) }
  const batches: ParsedFinding[][] = []
  const onFindings = async (batch: ParsedFinding[]) => {
    batches.push(batch)
  }
  const summary = await readDetected(source, 'auto', onFindings, repository)
  return { ...summary, count: summary.findings, findings: batches.flat(), batches: batches.map(({ length }) => length) }
}

async function* piecesOf(report: unknown, pieceBytes: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.isBuffer(report)
    ? report
    : Buffer.from(typeof report === 'string' ? report : JSON.stringify(report))
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
