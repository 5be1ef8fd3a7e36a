import { createPublicKey, generateKeyPairSync, hash, type KeyObject, verify } from 'node:crypto'
import type { KMSClient } from '@aws-sdk/client-kms'
import { sealText } from '../../platform/crypto/sealed-text.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'

/** ECDSA P-256 with SHA-256, in the form that the API shows. */
export const KEY_ALGORITHM = 'ecdsa-p256-sha256'

/** A key pair: the private key is sealed in the database, or stays in AWS KMS. */
export type KeyPair = {
  /** Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo. */
  keyid: string
  /** The public key, as a PEM SubjectPublicKeyInfo. */
  pem: string
} & ({ sealed_private_key: string; kms_key: null } | { sealed_private_key: null; kms_key: string })

export type SigningKey = KeyPair & { created_at: Date; retired_at: Date | null }

/** The row of a key with what authenticates it; the mac is null in rows of earlier versions. */
export type StoredKey = SigningKey & { mac: Buffer | null }

/** Generates a key pair whose private key is sealed for this organization. */
export function createKeyPair(sealingKey: KeyObject, orgId: string): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = encodePublicKey(publicKey)
  const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { ...name, sealed_private_key: sealText(sealingKey, sealLabel(orgId, name.keyid), secret), kms_key: null }
}

export function encodePublicKey(publicKey: KeyObject): { keyid: string; pem: string } {
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return {
    keyid: hash('sha256', der, 'hex'),
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  }
}

export function getPublicKey({ pem }: Pick<KeyPair, 'pem'>): KeyObject {
  return createPublicKey(pem)
}

/** Names the row of a sealed private key, so that it cannot be used in another one. */
export function sealLabel(orgId: string, keyid: string): string {
  return `signing key ${orgId} ${keyid}`
}

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

/** What AWS KMS answers about the key of a request, rather than because it cannot answer now. */
const ANSWERS: ReadonlySet<string> = new Set([
  ...['NotFoundException', 'AccessDeniedException', 'InvalidArnException', 'ValidationException'],
  ...['DisabledException', 'KMSInvalidStateException', 'InvalidKeyUsageException', 'UnsupportedOperationException'],
])
/** The SDK says so where this server has no settings of AWS, so that no key can be there. */
const NO_SETTINGS = 'Region is missing'

class KmsError extends Error {
  readonly isAnswer: boolean

  constructor({ name, message }: Error) {
    super(`AWS KMS failed: ${name}: ${message.slice(0, MESSAGE_CHARS_MAX)}`)
    this.isAnswer = ANSWERS.has(name) || message === NO_SETTINGS
  }
}

/** Whether an error says that AWS KMS could not be asked, or could not answer. */
export function isKmsUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof KmsError && !error.cause.isAnswer
}

/** The cause is rewritten, because errors of the SDK contain the whole response. */
function kmsFailure(failure: Error): ApiError {
  const cause = new KmsError(failure)
  const error = serviceUnavailable('The signing key in AWS KMS cannot be used. Try again later.')
  return error.retryAfter(RETRY_SECONDS).causedBy(cause)
}
