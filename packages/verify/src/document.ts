import { isEqual } from './bytes.ts'
import { Refused } from './checks.ts'
import { type Envelope, readEnvelope } from './envelope.ts'
import { Fields, HEX_256 } from './fields.ts'
import { type LogProof, readLogProof } from './log-proof.ts'
import { parseStrictJson } from './strict-json.ts'

/** What a file can contain besides the envelope. */
type StatementDocument = {
  envelope: Envelope
  /** `sha256:` and hexadecimal digits, as the API states it. */
  statementDigest: string | null
  logProof: LogProof | null
}

export const DOCUMENT_BYTES_MAX = 32 * 1024 * 1024

const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json'

/**
 * Reads a statement in one of four forms: the envelope, the `data` of the API's response, the whole
 * response, or a Sigstore bundle.
 */
export function readDocument(bytes: Uint8Array): StatementDocument {
  if (bytes.length > DOCUMENT_BYTES_MAX) throw new Refused(`the file is larger than ${DOCUMENT_BYTES_MAX} bytes`)
  const fields = new Fields(parseStrictJson(bytes, 'the file'), '')
  if (fields.has('payload')) return plain(readEnvelope(fields))
  if (fields.has('dsseEnvelope')) return plain(readBundle(fields))
  if (fields.has('envelope')) return readData(fields)
  if (fields.has('data')) return readData(fields.only(['data']).object('data'))
  throw new Refused('the file is neither a DSSE envelope, nor a response of the API, nor a Sigstore bundle')
}

function plain(envelope: Envelope): StatementDocument {
  return { envelope, statementDigest: null, logProof: null }
}

/** With `?bundle=true`, the API adds the envelope as a Sigstore bundle, and the proof of the log. */
function readData(data: Fields): StatementDocument {
  data.only(['envelope', 'statement_digest', 'bundle', 'unsigned'])
  const envelope = readEnvelope(data.object('envelope'))
  const statementDigest = data.string('statement_digest')
  if (!data.has('bundle') && !data.has('unsigned')) return { envelope, statementDigest, logProof: null }
  if (!isSame(envelope, readBundle(data.object('bundle'))))
    throw data.refusal('bundle', 'the same statement as the envelope')
  return { envelope, statementDigest, logProof: readLogProof(data.object('unsigned').only(['log']).object('log')) }
}

/**
 * Reads the parts of a Sigstore bundle v0.3 that a signature with a known public key needs. Its
 * hint stands for the keyid, which the signature of a bundle does not have.
 */
function readBundle(bundle: Fields): Envelope {
  bundle.only(['mediaType', 'verificationMaterial', 'dsseEnvelope'])
  if (bundle.string('mediaType') !== BUNDLE_TYPE) throw bundle.refusal('mediaType', BUNDLE_TYPE)
  const material = bundle.object('verificationMaterial')
  material.only(['publicKey', 'tlogEntries', 'timestampVerificationData'])
  const keyid = material.object('publicKey').only(['hint']).string('hint', HEX_256)
  const envelope = readEnvelope(bundle.object('dsseEnvelope'))
  if (envelope.signature.keyid !== null) throw bundle.refusal('dsseEnvelope.signatures', 'without a keyid')
  return { ...envelope, signature: { ...envelope.signature, keyid } }
}

function isSame(envelope: Envelope, other: Envelope): boolean {
  return (
    other.payloadType === envelope.payloadType &&
    isEqual(other.payload, envelope.payload) &&
    isEqual(other.signature.sig, envelope.signature.sig) &&
    other.signature.keyid === envelope.signature.keyid
  )
}
