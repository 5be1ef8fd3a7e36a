import { type Static, type TObject, Type } from 'typebox'
import { Value } from 'typebox/value'

export const ATTESTATION_STATUSES = ['pass', 'fail', 'warn', 'info'] as const
export type AttestationStatus = (typeof ATTESTATION_STATUSES)[number]
export const ATTESTATION_KINDS = ['test-results', 'coverage', 'sbom', 'scan', 'custom'] as const
export type AttestationKind = (typeof ATTESTATION_KINDS)[number]
/** Kinds that only Shiplock or a provider can attest (specification, createCiReport). */
export const REFUSED_KINDS = ['provenance', 'ownership']
const DATA_BYTES_MAX = 64 * 1024
/** More than any real report needs, and low enough that serializing cannot overflow the stack. */
const DATA_NESTING_MAX = 64

const Count = Type.Integer({ minimum: 0 })
const Text = Type.String({ minLength: 1, maxLength: 500 })
/**
 * The counts of a scan attestation, worst first. They are part of its format (decisions §6), which
 * has no `info`.
 */
const SCAN_COUNTS = ['critical', 'high', 'medium', 'low'] as const

const TestResults = Type.Object({
  passed: Count,
  failed: Count,
  skipped: Count,
  errors: Count,
  durationSeconds: Type.Optional(Type.Number({ minimum: 0 })),
  failures: Type.Optional(Type.Array(Type.Unknown())),
})
const Percent = Type.Number({ minimum: 0, maximum: 100 })
const Coverage = Type.Object({ lines: Percent, threshold: Type.Optional(Percent) })
const Sbom = Type.Object({ format: Text, components: Count, artifact: Type.Optional(Text) })
const Scan = Type.Object({
  tool: Text,
  critical: Count,
  high: Count,
  medium: Count,
  low: Count,
  failOn: Type.Optional(Type.Union(SCAN_COUNTS.map((severity) => Type.Literal(severity)))),
  artifact: Type.Optional(Text),
  format: Type.Optional(Text),
})

const SHAPES: Record<Exclude<AttestationKind, 'custom'>, TObject> = {
  'test-results': TestResults,
  coverage: Coverage,
  sbom: Sbom,
  scan: Scan,
}

/**
 * The first mistake in the data of an attestation, with a JSON pointer relative to it; null when it
 * is valid.
 */
export function dataMistake(kind: AttestationKind, data: object): { path: string; message: string } | null {
  if (isNestedDeeper(data, DATA_NESTING_MAX)) {
    return { path: '', message: `must not be nested deeper than ${DATA_NESTING_MAX} levels` }
  }
  if (Buffer.byteLength(JSON.stringify(data)) > DATA_BYTES_MAX) {
    return { path: '', message: `must be at most ${DATA_BYTES_MAX} bytes of JSON` }
  }
  if (kind === 'custom' || Value.Check(SHAPES[kind], data)) return null
  const [mistake] = Value.Errors(SHAPES[kind], data)
  const missing = (mistake?.params as { requiredProperties?: string[] } | undefined)?.requiredProperties?.[0]
  if (missing !== undefined) return { path: `/${missing}`, message: `is required for ${kind}` }
  return { path: mistake?.instancePath ?? '', message: mistake?.message ?? 'is not valid' }
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1))
}

/**
 * The status of an attestation, derived from its data (decisions §6), which `dataMistake` has
 * accepted.
 */
export function deriveStatus(kind: Exclude<AttestationKind, 'custom'>, data: object): AttestationStatus {
  switch (kind) {
    case 'test-results':
      return testStatus(data as Static<typeof TestResults>)
    case 'coverage':
      return coverageStatus(data as Static<typeof Coverage>)
    case 'scan':
      return scanStatus(data as Static<typeof Scan>)
    case 'sbom':
      return 'info' // becomes `pass` when its file has been read
  }
}

function testStatus({ passed, failed, errors }: Static<typeof TestResults>): AttestationStatus {
  if (failed + errors > 0) return 'fail'
  return passed === 0 ? 'info' : 'pass'
}

function coverageStatus({ lines, threshold }: Static<typeof Coverage>): AttestationStatus {
  if (threshold === undefined) return 'info'
  return lines >= threshold ? 'pass' : 'fail'
}

function scanStatus(counts: Static<typeof Scan>): AttestationStatus {
  const failing = SCAN_COUNTS.slice(0, SCAN_COUNTS.indexOf(counts.failOn ?? 'high') + 1)
  return failing.some((severity) => counts[severity] > 0) ? 'fail' : 'pass'
}
