import { JsonError } from '../../platform/json/json-error.ts'
import type { KnownRepository, ReadRepository } from './checkout/checkout.ts'
import { parseCsaf } from './csaf/parser.ts'
import { parseCycloneDx } from './cyclonedx/parser.ts'
import { detectFormat } from './detect-format.ts'
import { parseOpenVex } from './openvex/parser.ts'
import {
  ReportError,
  type ReportFormat,
  type ReportSource,
  type ReportSummary,
  type UploadFormat,
  type VexFormat,
} from './report/parsed-report.ts'
import type { OnFindings } from './report/report-reading.ts'
import type { OnStatements, VexDocument } from './report/vex-statement.ts'
import { parseSarif } from './sarif/parser.ts'
import { parseSpdx } from './spdx/parser.ts'

const NAMES: Record<UploadFormat, string> = {
  sarif: 'SARIF',
  cyclonedx: 'CycloneDX',
  spdx: 'SPDX',
  openvex: 'OpenVEX',
  csaf: 'CSAF',
}

type ParseReport = (
  source: ReportSource,
  onFindings: OnFindings,
  readRepository: ReadRepository,
) => Promise<ReportSummary>

const REPORT_PARSERS: Record<ReportFormat, ParseReport> = {
  sarif: parseSarif,
  cyclonedx: parseCycloneDx,
  spdx: parseSpdx,
}

const VEX_PARSERS = { openvex: parseOpenVex, csaf: parseCsaf }

const UNKNOWN_REPOSITORY: KnownRepository = { name: null, paths: [] }

/**
 * Detects the format of an uploaded file. Unless `stated` is `auto`, a file of another format is
 * refused. Throws ReportError.
 */
export async function readFormat(source: ReportSource, stated: 'auto' | UploadFormat): Promise<UploadFormat> {
  const detected = await refusingBrokenJson(null, () => detectFormat(source))
  if (stated === 'auto' || stated === detected) return detected
  throw new ReportError(`The file is ${NAMES[detected]}, but \`format\` is "${stated}".`, detected)
}

export function isVex(format: UploadFormat): format is VexFormat {
  return Object.hasOwn(VEX_PARSERS, format)
}

/**
 * Reads a security report of any size and passes its findings on in batches, each after the promise
 * for the last batch is fulfilled. `readRepository` is called at most once, and only for a report
 * with absolute paths. Throws ReportError, possibly after some batches, which must then be
 * discarded.
 */
export function readReport(
  source: ReportSource,
  format: ReportFormat,
  onFindings: OnFindings,
  readRepository: ReadRepository = async () => UNKNOWN_REPOSITORY,
): Promise<ReportSummary> {
  return refusingBrokenJson(format, () => REPORT_PARSERS[format](source, onFindings, readRepository))
}

/**
 * Reads a VEX document of any size and passes its statements on in batches. Throws ReportError, as
 * `readReport` does.
 */
export function readVexDocument(
  source: ReportSource,
  format: VexFormat,
  onStatements: OnStatements,
): Promise<VexDocument> {
  return refusingBrokenJson(format, () => VEX_PARSERS[format](source, onStatements))
}

async function refusingBrokenJson<T>(format: UploadFormat | null, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new ReportError(`The file cannot be read as JSON: ${error.message}.`, format)
  }
}
