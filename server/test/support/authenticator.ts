import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import type { Json } from './json.ts'

/** What a browser or an authenticator does differently from what the options ask for. */
type Deviation = { origin?: string; rpId?: string; isVerified?: boolean; challenge?: string; counter?: number }

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

/** An authenticator with one passkey (ES256), and the browser between it and the server. */
export class Authenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #id = randomBytes(16)
  readonly #origin: string
  #counter = 0
  #userHandle = ''

  constructor(origin: string) {
    this.#origin = origin
  }

  /** The response to `navigator.credentials.create()`. */
  create(options: Json, deviation: Deviation = {}): Json {
    this.#userHandle = options.user.id
    const clientDataJSON = this.#clientData('webauthn.create', options.challenge, deviation)
    const credential = Buffer.concat([Buffer.alloc(16), uint16(this.#id.length), this.#id, this.#coseKey()])
    const authData = this.#authData(deviation.rpId ?? options.rp.id, HAS_CREDENTIAL, deviation, credential)
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ])
    const attestationObject = Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url')
    return this.#credential({ clientDataJSON, attestationObject, transports: ['internal'] })
  }

  /** The response to `navigator.credentials.get()`. */
  get(options: Json, deviation: Deviation = {}): Json {
    this.#counter = deviation.counter ?? this.#counter + 1
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, deviation)
    const authData = this.#authData(deviation.rpId ?? options.rpId, 0, deviation)
    const signed = Buffer.concat([authData, hash('sha256', Buffer.from(clientDataJSON, 'base64url'), 'buffer')])
    const [authenticatorData, signature] = [authData, sign('sha256', signed, this.#keys.privateKey)].map((bytes) =>
      bytes.toString('base64url'),
    )
    return this.#credential({ clientDataJSON, authenticatorData, signature, userHandle: this.#userHandle })
  }

  #credential(response: Json): Json {
    const id = this.#id.toString('base64url')
    return {
      id,
      rawId: id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response,
    }
  }

  #clientData(type: string, challenge: string, deviation: Deviation): string {
    const data = { type, challenge: deviation.challenge ?? challenge, origin: deviation.origin ?? this.#origin }
    return Buffer.from(JSON.stringify({ ...data, crossOrigin: false })).toString('base64url')
  }

  #authData(rpId: string, flags: number, { isVerified = true }: Deviation, credential = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.#counter)
    const allFlags = flags | USER_PRESENT | (isVerified ? USER_VERIFIED : 0)
    return Buffer.concat([hash('sha256', rpId, 'buffer'), Buffer.from([allFlags]), counter, credential])
  }

  /** The public key as a COSE key (RFC 9053 §7.1.1). */
  #coseKey(): Buffer {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const [xBytes, yBytes] = [x, y].map((text) => new Uint8Array(Buffer.from(text as string, 'base64url')))
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, xBytes],
      [-3, yBytes],
    ])
    return Buffer.from(isoCBOR.encode(key as never))
  }
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}
