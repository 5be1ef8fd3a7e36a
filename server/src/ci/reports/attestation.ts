export const ATTESTATION_STATUSES = ['pass', 'fail', 'warn', 'info'] as const
export type AttestationStatus = (typeof ATTESTATION_STATUSES)[number]

export const ATTESTATION_KINDS = [
  'test-results',
  'coverage',
  'sbom',
  'scan',
  'custom',
  'ownership',
  'provenance',
] as const
export type AttestationKind = (typeof ATTESTATION_KINDS)[number]

/** Kinds whose status the job sends, because no status can be derived from their data. */
export type StatedKind = 'custom' | 'provenance'

/** The severities that a scan counts, worst first. The format has no `info` (decisions §6). */
export const SCAN_COUNTS = ['critical', 'high', 'medium', 'low'] as const
type ScanCounts = Record<(typeof SCAN_COUNTS)[number], number>

/** What was read from the file that an attestation names. */
export type ReadFile = ReportFigures | Ownership
/** The figures of a security report, stored beside what the job states. */
export type ReportFigures = { format: string; findings: number; components: number; openBySeverity: ScanCounts }
/** The number of rules of an ownership file. `error` is null if the file was read. */
export type Ownership = { format: 'codeowners' | 'json'; rules: number; error: string | null }

/**
 * The status of an attestation, derived from its valid data (decisions §6) and from what was read
 * from its file, or null if no file was read. A count that the job states has priority over the one
 * in the file.
 */
export function computeStatus(
  kind: Exclude<AttestationKind, StatedKind>,
  data: object,
  read: ReadFile | null = null,
): AttestationStatus {
  switch (kind) {
    case 'test-results':
      return testStatus(data as TestCounts)
    case 'coverage':
      return coverageStatus(data as Coverage)
    case 'scan':
      return scanStatus({ ...(read as ReportFigures | null)?.openBySeverity, ...data })
    case 'sbom':
      return read === null ? 'info' : 'pass'
    case 'ownership':
      return read === null ? 'info' : ownershipStatus(read as Ownership)
  }
}

type TestCounts = { passed: number; failed: number; errors: number }
type Coverage = { lines: number; threshold?: number }

function testStatus({ passed, failed, errors }: TestCounts): AttestationStatus {
  if (failed + errors > 0) return 'fail'
  return passed === 0 ? 'info' : 'pass'
}

function coverageStatus({ lines, threshold }: Coverage): AttestationStatus {
  if (threshold === undefined) return 'info'
  return lines >= threshold ? 'pass' : 'fail'
}

/** `info` until every count is known. */
function scanStatus(scan: Partial<ScanCounts> & { failOn?: keyof ScanCounts }): AttestationStatus {
  if (SCAN_COUNTS.some((severity) => scan[severity] === undefined)) return 'info'
  const failing = SCAN_COUNTS.slice(0, SCAN_COUNTS.indexOf(scan.failOn ?? 'high') + 1)
  return failing.some((severity) => (scan[severity] as number) > 0) ? 'fail' : 'pass'
}

function ownershipStatus({ rules, error }: Ownership): AttestationStatus {
  if (error !== null) return 'fail'
  return rules === 0 ? 'warn' : 'pass'
}
