import { type TObject, Type } from 'typebox'
import { Value } from 'typebox/value'
import { kindNotAllowed } from '../../errors/ci.ts'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { AttestationRow } from './attestation.store.ts'
import {
  ATTESTATION_KINDS,
  ATTESTATION_STATUSES,
  type AttestationKind,
  type AttestationStatus,
  computeStatus,
  SCAN_COUNTS,
} from './attestation.ts'
import type { AttestationItem } from './report.schema.ts'

type ReadAttestations = { rows: AttestationRow[]; warnings: string[] }

/**
 * Validates the attestations of a body by the rules of its route, and derives their statuses.
 * Errors: 400 `kind_not_allowed`, `invalid_request`.
 */
export function readAttestations(items: AttestationItem[], rules: AttestationRules, now: Date): ReadAttestations {
  const warnings: string[] = []
  const seen = new Set<string>()
  const rows = items.map((item, index) => {
    const pointer = `/body/attestations/${index}`
    const kind = readKind(item.kind, rules, pointer)
    const identity = JSON.stringify([kind, item.name])
    if (seen.has(identity)) throw createInvalidFieldError(`${pointer}/name`, `must be unique within the kind ${kind}`)
    seen.add(identity)
    const mistake = findDataMistake(kind, item.data, rules)
    if (mistake) throw createInvalidFieldError(`${pointer}/data${mistake.path}`, mistake.message)
    return {
      id: createUuid(now),
      kind,
      name: item.name,
      data: item.data,
      status: readStatus(kind, item, pointer, warnings),
    }
  })
  return { rows, warnings }
}

function readKind(sent: string, { kinds }: AttestationRules, pointer: string): AttestationKind {
  const kind = ATTESTATION_KINDS.find((known) => known === sent)
  if (kind === undefined) throw createInvalidFieldError(`${pointer}/kind`, `must be one of ${kinds.join(', ')}`)
  if (kinds.includes(kind)) return kind
  throw kindNotAllowed(kind)
}

function readStatus(
  kind: AttestationKind,
  item: AttestationItem,
  pointer: string,
  warnings: string[],
): AttestationStatus {
  if (kind === 'custom') return sentStatus(item) ?? missingStatus(pointer)
  if (kind === 'provenance') return sentStatus(item) ?? 'info'
  const derived = computeStatus(kind, item.data)
  if (item.status !== undefined && item.status !== derived) {
    warnings.push(`The status of ${kind} "${item.name}" is derived from its data: ${derived}, not ${item.status}.`)
  }
  return derived
}

/** The status that the client sends beside `data` or inside it. */
function sentStatus({ status, data }: AttestationItem): AttestationStatus | undefined {
  const sent = status ?? (data as { status?: unknown }).status
  return ATTESTATION_STATUSES.find((known) => known === sent)
}

function missingStatus(pointer: string): never {
  throw createInvalidFieldError(
    `${pointer}/status`,
    `is required for the kind custom and must be one of ${ATTESTATION_STATUSES.join(', ')}`,
  )
}

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
