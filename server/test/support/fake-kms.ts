import { createECDH } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type {
  GetPublicKeyCommandInput,
  GetPublicKeyCommandOutput,
  SignCommandInput,
  SignCommandOutput,
} from '@aws-sdk/client-kms'
import { p256 } from '@noble/curves/nist.js'

/** JSON 1.1 of AWS: the fields of the SDK's types, with bytes as base64. */
type Wire<Fields> = {
  [Name in keyof Fields]: Uint8Array extends Fields[Name] ? string : Fields[Name]
}
type PublicKeyAnswer = Wire<Omit<GetPublicKeyCommandOutput, '$metadata'>>
type SignAnswer = Wire<Omit<SignCommandOutput, '$metadata'>>

const KMS = { region: 'eu-central-1', access: 'test' }
/** DER SubjectPublicKeyInfo of a P-256 key, up to the point (RFC 5480). */
const SPKI_HEAD = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex')

type FakeKey = { secret: Buffer; spec: 'ECC_NIST_P256' | 'RSA_2048' }

/** AWS KMS with keys that tests make. The types of the SDK check what it takes and gives. */
export async function startFakeKms() {
  const keys = new Map<string, FakeKey>()
  const state = { isDown: false, requests: [] as string[] }
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '')
    state.requests.push(operation)
    const body = JSON.parse(await text(request))
    const key = keys.get(body.KeyId)
    if (state.isDown) answer(response, 500, { __type: 'KMSInternalException', message: 'down' })
    else if (!isSigned(request)) answer(response, 400, { __type: 'MissingAuthenticationTokenException' })
    else if (key === undefined) answer(response, 400, { __type: 'NotFoundException', message: 'No such key' })
    else answer(response, 200, operation === 'Sign' ? signatureOf(body, key) : publicKeyOf(body, key))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    /** What the SDK reads from the environment. */
    environment: {
      AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${port}`,
      AWS_REGION: KMS.region,
      AWS_ACCESS_KEY_ID: KMS.access,
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    state,
    /** Makes a key, or another one under a name that is taken, as when an alias is moved. */
    addKey(name: string, spec: FakeKey['spec'] = 'ECC_NIST_P256') {
      keys.set(name, { secret: Buffer.from(p256.utils.randomSecretKey()), spec })
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
}

function isSigned({ headers }: IncomingMessage): boolean {
  return /^AWS4-HMAC-SHA256 Credential=test\/.*\/kms\/aws4_request/.test(headers.authorization ?? '')
}

function publicKeyOf({ KeyId }: GetPublicKeyCommandInput, { secret, spec }: FakeKey): PublicKeyAnswer {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(secret)
  const PublicKey = Buffer.concat([SPKI_HEAD, ecdh.getPublicKey()]).toString('base64')
  return { KeyId, PublicKey, KeySpec: spec, KeyUsage: 'SIGN_VERIFY', SigningAlgorithms: ['ECDSA_SHA_256'] }
}

function signatureOf(request: Wire<SignCommandInput>, { secret }: FakeKey): SignAnswer {
  const { KeyId, Message, MessageType, SigningAlgorithm } = request
  if (MessageType !== 'DIGEST' || SigningAlgorithm !== 'ECDSA_SHA_256') throw new Error('Unexpected request')
  const digest = Buffer.from(Message as string, 'base64')
  const signature = p256.sign(digest, secret, { prehash: false, format: 'der', lowS: false })
  return { KeyId, Signature: Buffer.from(signature).toString('base64'), SigningAlgorithm }
}
