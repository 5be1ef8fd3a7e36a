import { type TObject, Type } from 'typebox'
import { Value } from 'typebox/value'
import { ATTESTATION_KINDS, type AttestationKind, SCAN_COUNTS } from './attestation.ts'

/** More than any real report needs, and low enough that serializing cannot overflow the stack. */
const DATA_NESTING_MAX = 64
const FAILURES_MAX = 50

const Count = Type.Integer({ minimum: 0 })
const Text = Type.String({ minLength: 1, maxLength: 500 })
const Percent = Type.Number({ minimum: 0, maximum: 100 })

const TestResults = Type.Object({
  passed: Count,
  failed: Count,
  skipped: Count,
  errors: Count,
  durationSeconds: Type.Optional(Type.Number({ minimum: 0 })),
  failures: Type.Optional(Type.Array(Type.Unknown())),
})
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

const OptionalText = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }))
const Failure = Type.Object({ suite: OptionalText, name: Type.String(), message: OptionalText })
const IngestedTestResults = Type.Object({
  ...TestResults.properties,
  failures: Type.Optional(Type.Array(Failure, { maxItems: FAILURES_MAX })),
})
const Ownership = Type.Object({
  format: Type.Union([Type.Literal('codeowners'), Type.Literal('json')]),
  artifact: Text,
})

/** What a route accepts as the attestations of a report. */
export type AttestationRules = {
  kinds: readonly AttestationKind[]
  dataBytesMax: number
  /** The shape of the data of a kind. Kinds without one have any data. */
  getShape(kind: AttestationKind, data: object): TObject | undefined
}

const API_SHAPES: Partial<Record<AttestationKind, TObject>> = {
  'test-results': TestResults,
  coverage: Coverage,
  sbom: Sbom,
  scan: Scan,
}

/** The rules of the API, whose clients cannot send `ownership` and `provenance`. */
export const API_RULES: AttestationRules = {
  kinds: ['test-results', 'coverage', 'sbom', 'scan', 'custom'],
  dataBytesMax: 64 * 1024,
  getShape: (kind) => API_SHAPES[kind],
}

const INGEST_SHAPES: typeof API_SHAPES = { ...API_SHAPES, 'test-results': IngestedTestResults, ownership: Ownership }
/** The figures of a file that the attestation names are read from the file. */
const FILE_SHAPES: typeof API_SHAPES = { sbom: Type.Partial(Sbom), scan: Type.Partial(Scan) }

/** The rules of the ingest routes (docs/ingest.md). */
export const INGEST_RULES: AttestationRules = {
  kinds: ATTESTATION_KINDS,
  dataBytesMax: 256 * 1024,
  getShape: (kind, data) => ('artifact' in data ? FILE_SHAPES[kind] : undefined) ?? INGEST_SHAPES[kind],
}

/**
 * The first mistake in the data of an attestation, with a JSON pointer relative to it; null when it
 * is valid.
 */
export function findDataMistake(
  kind: AttestationKind,
  data: object,
  { dataBytesMax, getShape }: AttestationRules,
): { path: string; message: string } | null {
  if (isNestedDeeper(data, DATA_NESTING_MAX)) {
    return { path: '', message: `must not be nested deeper than ${DATA_NESTING_MAX} levels` }
  }
  if (Buffer.byteLength(JSON.stringify(data)) > dataBytesMax) {
    return { path: '', message: `must be at most ${dataBytesMax} bytes of JSON` }
  }
  const shape = getShape(kind, data)
  if (shape === undefined || Value.Check(shape, data)) return null
  const [mistake] = Value.Errors(shape, data)
  const missing = (mistake?.params as { requiredProperties?: string[] } | undefined)?.requiredProperties?.[0]
  const path = mistake?.instancePath ?? ''
  if (missing !== undefined) return { path: `${path}/${missing}`, message: `is required for ${kind}` }
  return { path, message: mistake?.message ?? 'is not valid' }
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1))
}
