import { INGEST_RULES } from '../reports/attestation-data.ts'
import type { NewReport } from '../reports/create-report.ts'
import { OWNERSHIP_BYTES_MAX } from '../reports/ownership/ownership-file.parser.ts'
import type { AttestationItem } from '../reports/report.schema.ts'
import type { IngestedAttestation, IngestedReport } from './ingest.schema.ts'
import { readMatrix } from './job-matrix.ts'
import { sizeOf, withShortMessages } from './message-lengths.ts'

type Artifacts = NewReport['artifacts']
type Translated = { report: Omit<NewReport, 'attempt'>; warnings: string[] }

/**
 * The report that a body of the ingest routes describes, as the API describes it, so that both
 * routes store the same. Throws 400 `invalid_request` for a matrix above the limits.
 */
export function toReport({ job, name, summary, attestations, artifacts }: IngestedReport): Translated {
  const warnings: string[] = []
  const matrix = readMatrix(job.matrix)
  const files = (artifacts ?? []).map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  const items = (attestations ?? []).map((item) => toItem(item, warnings))
  warnings.push(...items.flatMap((item) => aboutFile(item, files)))
  const report = {
    job: { name: job.name ?? 'default', ...(matrix && { matrix }), ...(job.runner != null && { runner: job.runner }) },
    name: name ?? 'default',
    ...(summary != null && { summary }),
    attestations: items,
    artifacts: files,
    rules: INGEST_RULES,
  }
  return { report, warnings }
}

function toItem({ kind, name, status, data: sent }: IngestedAttestation, warnings: string[]): AttestationItem {
  const data = hasFreeData(kind) ? sent : withoutNulls(sent)
  const cut = sizeOf(data) > INGEST_RULES.dataBytesMax ? withShortMessages(data, INGEST_RULES.dataBytesMax) : null
  if (cut) warnings.push(`The messages of ${kind} "${name}" were cut, because its data is larger than 256 KiB.`)
  return { kind, name, data: cut ?? data, ...(status != null && { status }) }
}

function hasFreeData(kind: string): boolean {
  return kind === 'custom' || kind === 'provenance'
}

/** A field that is null is the same as one that is absent. */
function withoutNulls(data: object): object {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
}

/** What the client should check about the file that an attestation names. */
function aboutFile({ kind, name, data }: AttestationItem, files: Artifacts): string[] {
  const { artifact } = data as { artifact?: unknown }
  if (hasFreeData(kind) || typeof artifact !== 'string') return []
  const file = files.find(({ path }) => path === artifact)
  if (!file) return [`The ${kind} "${name}" names "${artifact}", which is not an artifact of this report.`]
  if (kind !== 'ownership' || file.size <= OWNERSHIP_BYTES_MAX) return []
  return [`The file of ownership "${name}" is larger than 256 KiB and will not be read.`]
}
