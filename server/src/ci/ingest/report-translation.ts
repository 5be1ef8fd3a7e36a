import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { normalizeUnstorable } from '../../platform/http/json-body.ts'
import { toObject } from '../../platform/json/read-value.ts'
import { truncate } from '../../platform/text.ts'
import type { NewReport } from '../reports/create-report.ts'
import { OWNERSHIP_BYTES_MAX } from '../reports/ownership-file.parser.ts'
import { INGEST_RULES } from '../reports/read-attestations.ts'
import {
  type AttestationItem,
  MATRIX_KEY_CHARS_MAX,
  MATRIX_KEYS_MAX,
  MATRIX_TEXT_CHARS_MAX,
  type Matrix,
} from '../reports/report.schema.ts'
import type { IngestedAttestation, IngestedReport } from './ingest.schema.ts'

type Artifacts = NewReport['artifacts']
type Translated = { report: Omit<NewReport, 'attempt'>; warnings: string[] }

/**
 * The report that a body of the ingest routes describes, as the API describes it, so that both
 * routes store the same. Throws 400 `invalid_request` for a matrix above the limits.
 */
export function toReport({ job, name, summary, attestations, artifacts, subjects }: IngestedReport): Translated {
  const warnings: string[] = []
  const matrix = readMatrix(job.matrix)
  const files = (artifacts ?? []).map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  const items = (attestations ?? []).map((item) => toItem(item, warnings))
  warnings.push(...items.flatMap((item) => aboutFile(item, files)))
  const report = {
    job: {
      name: job.name ?? 'default',
      ...(matrix && { matrix }),
      ...(job.runner != null && { runner: job.runner }),
      ...(job.key != null && { key: job.key }),
      ...(job.instance != null && { instance: job.instance }),
      ...(job.retries != null && { retries: job.retries }),
    },
    name: name ?? 'default',
    ...(summary != null && { summary }),
    attestations: items,
    artifacts: files,
    ...(subjects != null && {
      subjects: subjects.map(({ name: subject, sha256, mediaType, platforms }) => ({
        name: subject,
        sha256,
        ...(mediaType != null && { media_type: mediaType }),
        ...(platforms != null && { platforms: platforms.map(({ sha256, platform }) => ({ sha256, platform })) }),
      })),
    }),
    rules: INGEST_RULES,
  }
  return { report, warnings }
}

function toItem({ kind, name, status, data: sent }: IngestedAttestation, warnings: string[]): AttestationItem {
  const isFree = kind === 'custom' || kind === 'provenance'
  // A field that is null is the same as one that is absent.
  const data: object = isFree ? sent : Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
  const cut = computeSize(data) > INGEST_RULES.dataBytesMax ? withShortMessages(data, INGEST_RULES.dataBytesMax) : null
  if (cut) warnings.push(`The messages of ${kind} "${name}" were cut, because its data is larger than 256 KiB.`)
  return { kind, name, data: cut ?? data, ...(status != null && { status }) }
}

/**
 * The data of an attestation with its messages cut to the same length, so that it has at most
 * `bytesMax` bytes of JSON. Returns null if that is not possible.
 */
function withShortMessages(data: object, bytesMax: number): object | null {
  const cutTo = (charsMax: number) => cutMessages(data, charsMax) as object
  let fits = 1 // an ellipsis
  if (computeSize(cutTo(fits)) > bytesMax) return null
  let tooLong = bytesMax
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (computeSize(cutTo(middle)) > bytesMax) tooLong = middle
    else fits = middle
  }
  return cutTo(fits)
}

function computeSize(data: object): number {
  return Buffer.byteLength(JSON.stringify(data))
}

/** Cuts every text named `message`, at any depth. */
function cutMessages(value: unknown, charsMax: number): unknown {
  if (Array.isArray(value)) return value.map((item) => cutMessages(item, charsMax))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'message' && typeof inner === 'string' ? truncate(inner, charsMax) : cutMessages(inner, charsMax),
  ])
  return Object.fromEntries(entries)
}

/** Kinds of attestations whose file is read. */
const KINDS_WITH_FILE = ['scan', 'sbom', 'ownership']

/** What the client should check about the file that an attestation names. */
function aboutFile({ kind, name, data }: AttestationItem, files: Artifacts): string[] {
  const { artifact } = data as { artifact?: unknown }
  if (!KINDS_WITH_FILE.includes(kind) || typeof artifact !== 'string') return []
  const file = files.find(({ path }) => path === artifact)
  if (!file) return [`The ${kind} "${name}" names "${artifact}", which is not an artifact of this report.`]
  if (kind !== 'ownership' || file.size <= OWNERSHIP_BYTES_MAX) return []
  return [`The file of ownership "${name}" is larger than 256 KiB and will not be read.`]
}

const POINTER = '/body/job/matrix'
const BYTES_MAX = 16 * 1024

/**
 * The matrix of a job, from any JSON value or from a text of JSON. A value that is not an object
 * becomes `{"value": …}`; so does a text that is not JSON. An empty text is no matrix. Throws 400
 * `invalid_request` for a matrix above the limits.
 */
export function readMatrix(sent: unknown): Matrix | null {
  const value = typeof sent === 'string' ? parsedText(sent) : (sent ?? null)
  if (value === null) return null
  const matrix = toObject(value) ?? { value }
  const mistake = matrixMistake(matrix)
  if (mistake !== null) throw createInvalidFieldError(POINTER, mistake)
  return matrix
}

function parsedText(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return normalizeUnstorable(JSON.parse(text), POINTER)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function matrixMistake(matrix: Matrix): string | null {
  const entries = Object.entries(matrix)
  if (entries.length > MATRIX_KEYS_MAX) return `must have at most ${MATRIX_KEYS_MAX} keys`
  if (entries.some(([key]) => key.length > MATRIX_KEY_CHARS_MAX)) {
    return `must have keys of at most ${MATRIX_KEY_CHARS_MAX} characters`
  }
  if (entries.some(([, value]) => typeof value === 'string' && value.length > MATRIX_TEXT_CHARS_MAX)) {
    return `must have texts of at most ${MATRIX_TEXT_CHARS_MAX} characters`
  }
  return Buffer.byteLength(JSON.stringify(matrix)) > BYTES_MAX ? `must be at most ${BYTES_MAX} bytes of JSON` : null
}
