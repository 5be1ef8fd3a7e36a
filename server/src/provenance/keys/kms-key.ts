import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'
import type { KMSClient } from '@aws-sdk/client-kms'
import type { ApiError } from '../../platform/http/api-error.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'

const CONNECT_TIMEOUT_MS = 2_000
const REQUEST_TIMEOUT_MS = 5_000
const ATTEMPTS_MAX = 3
const RETRY_SECONDS = 10
const MESSAGE_CHARS_MAX = 300

/**
 * Returns the public key of a key pair in AWS KMS, given by its id, ARN or alias. Throws 503
 * `unavailable` if KMS cannot be used, and an `Error` if the key is not one for ECDSA P-256.
 */
export async function readKmsPublicKey(name: string): Promise<KeyObject> {
  const { GetPublicKeyCommand } = await import('@aws-sdk/client-kms')
  const client = await openClient()
  const { PublicKey, KeySpec, KeyUsage } = await orUnavailable(client.send(new GetPublicKeyCommand({ KeyId: name })))
  if (PublicKey === undefined || KeySpec !== 'ECC_NIST_P256' || KeyUsage !== 'SIGN_VERIFY')
    throw new Error(
      `SHIPLOCK_SIGNING_KMS_KEY must be a key for SIGN_VERIFY with the spec ECC_NIST_P256, not ${KeyUsage} ${KeySpec}.`,
    )
  return createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' })
}

/**
 * Signs with a key pair in AWS KMS: ECDSA with SHA-256, DER. Only the digest is sent. The signature
 * is checked, because an alias can be moved to another key at any time.
 */
export async function signWithKms(name: string, publicKey: KeyObject, bytes: Buffer): Promise<Buffer> {
  const { SignCommand } = await import('@aws-sdk/client-kms')
  const client = await openClient()
  const digest = hash('sha256', bytes, 'buffer')
  const request = { KeyId: name, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const
  const { Signature } = await orUnavailable(client.send(new SignCommand(request)))
  const signature = Buffer.from(Signature ?? '')
  if (verify('sha256', bytes, publicKey, signature)) return signature
  throw kmsFailure(new Error(`The key ${name} is not the one that was stored. Run "signing-key rotate".`))
}

let client: KMSClient | undefined

/**
 * Region and credentials come from the environment, as the AWS SDK documents them. Loading the SDK
 * takes 0.1 s, so it is loaded on first use.
 */
async function openClient(): Promise<KMSClient> {
  const { KMSClient } = await import('@aws-sdk/client-kms')
  client ??= new KMSClient({
    retryMode: 'standard',
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  })
  return client
}

async function orUnavailable<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request
  } catch (error) {
    throw kmsFailure(error as Error)
  }
}

/** The cause is rewritten, because errors of the SDK contain the whole response. */
function kmsFailure({ name, message }: Error): ApiError {
  const cause = new Error(`AWS KMS failed: ${name}: ${message.slice(0, MESSAGE_CHARS_MAX)}`)
  const error = serviceUnavailable('The signing key in AWS KMS cannot be used. Try again later.')
  return error.retryAfter(RETRY_SECONDS).causedBy(cause)
}
