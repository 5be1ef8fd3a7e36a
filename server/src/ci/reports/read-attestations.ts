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
} from './attestation.ts'
import { type AttestationRules, findDataMistake } from './attestation-data.ts'
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
