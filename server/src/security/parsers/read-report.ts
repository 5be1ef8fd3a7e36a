import { JsonError } from '../../platform/json/json-error.ts'
import { detectFormat } from './detect-format.ts'
import type { OnFindings } from './finding-batch.ts'
import { ReportError, type ReportFormat, type ReportSource, type ReportSummary } from './parsed-report.ts'
import { parseSarif } from './sarif.parser.ts'

const FORMAT_NAMES: Record<ReportFormat, string> = { sarif: 'SARIF', cyclonedx: 'CycloneDX', spdx: 'SPDX' }

/**
 * Reads a security report of any size and hands its findings out in batches; the next batch is made when the promise of the one
 * before is fulfilled. `format` other than `auto` is what the sender says it is; a file of another format is refused.
 * Throws ReportError, possibly after batches: what was handed out before then must not be kept.
 */
export async function readReport(
  source: ReportSource,
  format: 'auto' | ReportFormat,
  onFindings: OnFindings,
): Promise<ReportSummary & { format: ReportFormat }> {
  let detected: ReportFormat | null = null
  try {
    detected = await detectFormat(source)
    refuseUnlessRead(detected, format)
    return { ...(await parseSarif(source, onFindings)), format: detected }
  } catch (error) {
    if (error instanceof JsonError)
      throw new ReportError(`The file cannot be read as JSON: ${error.message}.`, detected)
    throw error
  }
}

function refuseUnlessRead(detected: ReportFormat, stated: 'auto' | ReportFormat): void {
  if (stated !== 'auto' && stated !== detected) {
    throw new ReportError(`The file is ${FORMAT_NAMES[detected]}, not ${FORMAT_NAMES[stated]} as stated.`, detected)
  }
  if (detected !== 'sarif') throw new ReportError(`${FORMAT_NAMES[detected]} reports are not read yet.`, detected)
}
