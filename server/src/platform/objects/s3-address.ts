import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { ADDRESS_LIFETIME_MS, type ExpectedObject, type PresignedPut } from './object-store.ts'

type ObjectLocation = { Bucket: string; Key: string }

/** S3's checksum header. It is signed, so the store compares it with the body that arrives. */
const CHECKSUM_HEADER = 'x-amz-checksum-sha256'

/**
 * By default the SDK moves the checksum to the query, where clients need not send it, and does not
 * sign the type.
 */
const AS_SIGNED_HEADERS = {
  unhoistableHeaders: new Set([CHECKSUM_HEADER]),
  signableHeaders: new Set(['content-type']),
}

/** Presigns a PUT for exactly the expected bytes: length, type and SHA-256 are signed headers. */
export async function signPut(
  s3: S3Client,
  location: ObjectLocation,
  expected: ExpectedObject,
  now: Date,
): Promise<PresignedPut> {
  const { sizeBytes, sha256, contentType } = expected
  const checksum = Buffer.from(sha256, 'hex').toString('base64')
  const put = new PutObjectCommand({
    ...location,
    ContentLength: sizeBytes,
    ContentType: contentType,
    ChecksumSHA256: checksum,
  })
  const expiresIn = ADDRESS_LIFETIME_MS / 1000
  const url = await getSignedUrl(s3, put, { ...AS_SIGNED_HEADERS, signingDate: now, expiresIn })
  const headers = { 'Content-Type': contentType, [CHECKSUM_HEADER]: checksum }
  return { method: 'PUT', url, headers, expires_at: new Date(now.getTime() + ADDRESS_LIFETIME_MS) }
}
