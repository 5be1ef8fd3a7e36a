import type { Bytes } from '../bytes.ts'

/** Whether a key made the signature of these bytes. Throws `Unsupported`. */
export type VerifySignature = (signed: Bytes, signature: Bytes) => Promise<boolean>

/**
 * The cryptography of a platform. The import `#crypto` is `node.ts` or, in browsers, `browser.ts`:
 * the WebCrypto of Node.js 20 and 22 prints a warning about Ed25519.
 */
export type Crypto = {
  /** The hash of the parts, one after the other. */
  sha256(...parts: readonly Bytes[]): Promise<Bytes>
  /**
   * Reads a P-256 key (DER SubjectPublicKeyInfo), which verifies signatures in DER with SHA-256. Null
   * for a key of another kind. Throws an error for one that cannot be read.
   */
  readP256Key(spki: Bytes): Promise<VerifySignature | null>
  /** Reads an Ed25519 key of 32 bytes. */
  readEd25519Key(raw: Bytes): VerifySignature
}

/** This platform does not have the algorithm of a signature. */
export class Unsupported extends Error {}
