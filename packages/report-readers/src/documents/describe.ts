import { ReportFileError } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'
import { countComponents, readCycloneDx } from './cyclonedx.ts'
import { detectDocument } from './detect-document.ts'
import { readSarif } from './sarif.ts'
import { SEVERITIES, type Severity, type SeverityCounts } from './severity.ts'
import { countPackages } from './spdx.ts'

/** The data of an `sbom` attestation, without its artifact. */
type Sbom = { format: 'cyclonedx' | 'spdx'; components: number }

/** The data of a `scan` attestation, without its artifact and the severity that fails it. */
export type Scan = { tool: string; format: 'sarif' | 'cyclonedx' } & SeverityCounts

const TOOL_MAX = 300

/** Counts the components of an SBOM: CycloneDX or SPDX in JSON. Throws ReportFileError. */
export async function describeSbom(file: FoundFile): Promise<Sbom> {
  const format = await detectDocument(file, ['cyclonedx', 'spdx'])
  if (format === 'spdx') return { format, components: await countPackages(file) }
  return { format: 'cyclonedx', components: await countComponents(file) }
}

/**
 * Counts the open findings of a scan by severity, with the rules of the server. The file is SARIF, or
 * CycloneDX with vulnerabilities. Throws ReportFileError.
 */
export async function describeScan(file: FoundFile): Promise<Scan> {
  const format = await detectDocument(file, ['sarif', 'cyclonedx'])
  const findings = format === 'sarif' ? await readSarif(file) : await readCycloneDx(file)
  if (findings === null) {
    throw new ReportFileError(file, 'expected a scan, found CycloneDX without `vulnerabilities`; use --sbom')
  }
  const tool = findings.tools.join(', ').slice(0, TOOL_MAX).toWellFormed() || 'unknown'
  return { tool, format: format === 'sarif' ? 'sarif' : 'cyclonedx', ...findings.counts }
}

/** True if the scan has findings of this severity or a worse one. */
export function exceeds(counts: SeverityCounts, failOn: Severity): boolean {
  return SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1).some((severity) => counts[severity] > 0)
}
