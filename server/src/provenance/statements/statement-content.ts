import { formatCloneAddress } from '../../codehosts/catalogue.ts'
import { type DsseEnvelope, toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { LinkRow } from '../chain/link.store.ts'
import { type ChainKey, type ChainPosition, getPosition } from '../chain/link.ts'
import type { ChainState } from '../chain/read-chain-state.ts'
import type { Amendment, ChangeRecord } from '../changes/change-record.ts'
import type { StoredKey } from './signing-key.ts'

/**
 * The payload type of a DSSE envelope that contains an in-toto statement (in-toto Attestation 1.0,
 * "Envelope").
 */
export const IN_TOTO = 'application/vnd.in-toto+json'

/**
 * What a statement is about, as in-toto's ResourceDescriptor. What is not verified is annotated
 * with who stated it.
 */
export type Subject = { name: string; digest: Record<string, string>; annotations?: { trust: string } }

/** An in-toto statement without its version. */
export type StatementContent = { subject: Subject[]; predicateType: string; predicate: object }

/** The bytes that are signed: an in-toto Statement v1 in its canonical form (RFC 8785). */
export function encodeStatement({ subject, predicateType, predicate }: StatementContent): Buffer {
  return Buffer.from(toCanonicalJson({ _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate }))
}

/** The envelope of a signed payload. `sig` is a DER signature. */
export function toEnvelope(payload: Buffer, keyid: string, sig: Buffer): DsseEnvelope {
  return {
    payloadType: IN_TOTO,
    payload: payload.toString('base64'),
    signatures: [{ keyid, sig: sig.toString('base64') }],
  }
}

/**
 * The envelope as a Sigstore bundle v0.3. Its signatures have no key id, because the hint names the
 * key.
 */
export function toSigstoreBundle({ payloadType, payload, signatures }: DsseEnvelope) {
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: signatures[0]?.keyid ?? '' } },
    dsseEnvelope: { payloadType, payload, signatures: signatures.map(({ sig }) => ({ sig })) },
  }
}

export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

export type Breaks = ChainState['breaks']

/** The record of a change with its amendments, each with its position in the chain. */
export type RecordedChange = {
  record: ChangeRecord
  amendments: (Amendment & { chain: ChainPosition })[]
  chain: ChainPosition
}

/** What the links of a change state. Null if the record is missing or its text is not JSON. */
export function readRecordedChange([first, ...others]: readonly LinkRow[]): RecordedChange | null {
  if (first?.kind !== 'record') return null
  try {
    const record = JSON.parse(first.body ?? '') as ChangeRecord
    const amendments = others.map((link) => ({
      ...(JSON.parse(link.body ?? '') as Amendment),
      chain: getPosition(link),
    }))
    return { record, amendments, chain: getPosition(first) }
  } catch {
    return null
  }
}

/** `breaks` are the acknowledged mismatches of the chain. */
export function toChangeContent(change: RecordedChange, breaks: Breaks): StatementContent {
  const { repository, commits } = change.record
  return {
    subject: [toCommitSubject(repository, commits.merge)],
    predicateType: CHANGE_RECORD,
    predicate: { ...change, ...(breaks.length > 0 && { breaks }) },
  }
}

/**
 * A commit of a repository. `gitCommit` is its SHA-1 or SHA-256 (in-toto Attestation, "DigestSet").
 */
export function toCommitSubject({ host, full_name }: { host: string; full_name: string }, sha: string): Subject {
  return { name: `git+https://${formatCloneAddress(`${host}/${full_name}`)}`, digest: { gitCommit: sha } }
}

/** What determines the statement of a change. */
export type StoredRecord = ChainKey & {
  id: string
  landed_at: Date
  /** The index of the record in the chain. */
  chain: { index: number }
  last_index: number
  /** The hashes of the record and of the last link of the change; null if the link is missing. */
  hashes: { record: string; last: string } | null
  /** Whether a mismatch was found in the chain. */
  has_breaks: boolean
}

/** A row of `buildStoredRecord`. */
export type StoredRecordRow = Omit<StoredRecord, 'chain' | 'hashes'> & {
  index: number
  record: string | null
  last: string | null
}

export function toStoredRecord({ index, record, last, ...change }: StoredRecordRow): StoredRecord {
  return { ...change, chain: { index }, hashes: record === null || last === null ? null : { record, last } }
}

/** A statement that was issued. */
export type StoredStatement = {
  keyid: string
  /** SHA-256 of the payload, as `sha256:` and hexadecimal digits. */
  statement_digest: string
  /** The DSSE envelope as JSON text. */
  envelope: string
  issued_at: Date
}

/** A row with what authenticates it. The mac is null in rows of earlier versions. */
export type StatementRow = StoredStatement & {
  /** SHA-256 of what determines the statement. */
  facts: Buffer
  mac: Buffer | null
  /** The key that has signed it; null if its row is missing. */
  key: StoredKey | null
}

/** A row as it is read. */
export type StatementColumns = Omit<StatementRow, 'key'> & { key: KeyJson | null }

type KeyJson = {
  [Column in keyof StoredKey]: StoredKey[Column] extends string | null ? StoredKey[Column] : string | null
}

export function toStatementRow(columns: StatementColumns): StatementRow {
  const { facts, keyid, statement_digest, envelope, issued_at, mac, key } = columns
  const times = key && {
    created_at: new Date(key.created_at ?? Number.NaN),
    retired_at: key.retired_at === null ? null : new Date(key.retired_at),
    mac: key.mac === null ? null : Buffer.from(key.mac, 'hex'),
  }
  const stored = key && ({ ...key, ...times } as StoredKey)
  return { facts, keyid, statement_digest, envelope, issued_at, mac, key: stored }
}
