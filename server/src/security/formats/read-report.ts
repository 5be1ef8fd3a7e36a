import { JsonError } from '../../platform/json/json-grammar.ts'
import {
  getFormat,
  getMixedFormat,
  getReportFormat,
  getVexFormat,
  isMixedFormat,
  isVexFormat,
  type ReportFormat,
  type UploadFormat,
  type VexFormat,
} from './catalogue.ts'
import { classifyFile } from './classify-file.ts'
import type { KnownRepository, ReadRepository } from './report/checkout.ts'
import { ReportError, type ReportSource, type ReportSummary } from './report/parsed-report.ts'
import type { OnFindings } from './report/report-reading.ts'
import type { OnStatements, VexDocument } from './report/vex-statement.ts'

const UNKNOWN_REPOSITORY: KnownRepository = { name: null, paths: [] }

/** A file is a report with findings, or a VEX document with statements. */
export type DetectedFile = { isVex: false; format: ReportFormat } | { isVex: true; format: VexFormat }

/**
 * Detects what an uploaded file is. Unless `requested` is `auto`, a file of another format is
 * refused. Throws ReportError.
 */
export async function readFormat(source: ReportSource, requested: 'auto' | UploadFormat): Promise<DetectedFile> {
  const format = await withFormat(null, () => classifyFile(source))
  if (requested !== 'auto' && requested !== format)
    throw new ReportError(`The file is ${getFormat(format).title}, but \`format\` is "${requested}".`, format)
  if (isVexFormat(format)) return { isVex: true, format }
  if (!isMixedFormat(format)) return { isVex: false, format }
  const { detect } = await getMixedFormat(format).loadVexNotation()
  return { isVex: await withFormat(format, () => detect(source)), format }
}

/**
 * Reads a security report of any size and passes its findings on in batches, each after the promise
 * for the last batch is fulfilled. `readRepository` is called at most once, and only for a report
 * with absolute paths. Throws ReportError, possibly after some batches, which must then be
 * discarded.
 */
export async function readReport(
  source: ReportSource,
  format: ReportFormat,
  onFindings: OnFindings,
  readRepository: ReadRepository = async () => UNKNOWN_REPOSITORY,
): Promise<ReportSummary> {
  const parse = await getReportFormat(format).loadParser()
  return withFormat(format, () => parse(source, onFindings, readRepository))
}

/**
 * Reads a VEX document of any size and passes its statements on in batches. Throws ReportError, as
 * `readReport` does.
 */
export async function readVexDocument(
  source: ReportSource,
  format: VexFormat,
  onStatements: OnStatements,
): Promise<VexDocument> {
  const parse = isMixedFormat(format)
    ? (await getMixedFormat(format).loadVexNotation()).parse
    : await getVexFormat(format).loadParser()
  return withFormat(format, () => parse(source, onStatements))
}

/** Adds the format to the errors of its parser, and explains those of a file that is not JSON. */
async function withFormat<T>(format: UploadFormat | null, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ReportError && error.format === null) throw new ReportError(error.message, format)
    if (!(error instanceof JsonError)) throw error
    throw new ReportError(`The file cannot be read as JSON: ${error.message}.`, format)
  }
}
