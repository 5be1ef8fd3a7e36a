/** Signs with an organization's current key: ECDSA P-256 with SHA-256. */
export type Signer = {
  /** Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
  keyid: string
  /** Returns a DER signature. Throws `ApiError` 503 if the key's service cannot be reached. */
  sign(bytes: Buffer): Promise<Buffer>
}
