import type { DsseEnvelope } from '../../platform/crypto/dsse.ts'
import { toCanonicalJson } from '../../platform/json/canonical-json.ts'

/**
 * The payload type of a DSSE envelope that contains an in-toto statement (in-toto Attestation 1.0,
 * "Envelope").
 */
export const IN_TOTO = 'application/vnd.in-toto+json'

/** What a statement is about. Names and digests follow in-toto's ResourceDescriptor. */
export type Subject = { name: string; digest: Record<string, string> }

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
