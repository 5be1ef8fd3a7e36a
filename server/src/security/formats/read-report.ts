import { JsonError } from '../../platform/json/json-error.ts'
import type { KnownRepository, ReadRepository } from './checkout/checkout.ts'
import { parseCycloneDx } from './cyclonedx/cyclonedx.parser.ts'
import { detectFormat } from './detect/detect-format.ts'
import type { OnFindings } from './report/finding-batch.ts'
import { ReportError, type ReportFormat, type ReportSource, type ReportSummary } from './report/parsed-report.ts'
import { parseSarif } from './sarif/sarif.parser.ts'
import { parseSpdx } from './spdx/spdx.parser.ts'

type Reader = {
  name: string
  parse: (source: ReportSource, onFindings: OnFindings, readRepository: ReadRepository) => Promise<ReportSummary>
}

const READERS: Record<ReportFormat, Reader> = {
  sarif: { name: 'SARIF', parse: parseSarif },
  cyclonedx: { name: 'CycloneDX', parse: parseCycloneDx },
  spdx: { name: 'SPDX', parse: parseSpdx },
}

const UNKNOWN_REPOSITORY: KnownRepository = { name: null, paths: [] }

/**
 * Reads a security report of any size and passes its findings on in batches, each after the promise
 * for the last batch is fulfilled. Unless `format` is `auto`, a file of another format is refused.
 * `readRepository` is called at most once, and only for a report with absolute paths. Throws
 * ReportError, possibly after some batches, which must then be discarded.
 */
export async function readReport(
  source: ReportSource,
  format: 'auto' | ReportFormat,
  onFindings: OnFindings,
  readRepository: ReadRepository = async () => UNKNOWN_REPOSITORY,
): Promise<ReportSummary & { format: ReportFormat }> {
  let detected: ReportFormat | null = null
  try {
    detected = await detectFormat(source)
    refuseUnlessStated(detected, format)
    return { ...(await READERS[detected].parse(source, onFindings, readRepository)), format: detected }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new ReportError(`The file cannot be read as JSON: ${error.message}.`, detected)
  }
}

function refuseUnlessStated(detected: ReportFormat, stated: 'auto' | ReportFormat): void {
  if (stated === 'auto' || stated === detected) return
  throw new ReportError(`The file is ${READERS[detected].name}, but \`format\` is "${stated}".`, detected)
}
