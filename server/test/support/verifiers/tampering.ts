import { generateKeyPairSync } from 'node:crypto'
import type { Envelope } from './issuer.ts'
import type { Presented } from './verifiers.ts'

/** What an attacker changes, or what a consumer expects differently. */
export const TAMPERINGS = {
  /** One digit of the commit in the statement, so that the statement keeps its form. */
  payload: (presented: Presented) =>
    changeEnvelopes(presented, (envelope) => {
      const text = Buffer.from(envelope.payload, 'base64').toString('latin1')
      const changed = text.replaceAll(presented.commit, otherDigest(presented.commit))
      return { ...envelope, payload: Buffer.from(changed, 'latin1').toString('base64') }
    }),
  signature: (presented: Presented) =>
    changeEnvelopes(presented, (envelope) => ({
      ...envelope,
      signatures: envelope.signatures.map((signature) => ({ ...signature, sig: flipLastByte(signature.sig) })),
    })),
  key: (presented: Presented) => ({ ...presented, publicKey: otherKey() }),
  'payload type': (presented: Presented) =>
    changeEnvelopes(presented, (envelope) => ({ ...envelope, payloadType: 'application/json' })),
  'subject digest': (presented: Presented) => ({
    ...presented,
    commit: otherDigest(presented.commit),
    artifact: presented.artifact && 'another artifact',
  }),
}

export type Tampering = keyof typeof TAMPERINGS

/** Changes the envelope and the bundle's copy of it in the same way. */
export function changeEnvelopes(presented: Presented, change: (envelope: Envelope) => Envelope): Presented {
  const { envelope, bundle } = presented
  return { ...presented, envelope: change(envelope), bundle: { ...bundle, dsseEnvelope: change(bundle.dsseEnvelope) } }
}

function otherDigest(hex: string): string {
  return (hex.startsWith('f') ? '0' : 'f') + hex.slice(1)
}

function flipLastByte(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  return bytes.toString('base64')
}

function otherKey(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return publicKey.export({ type: 'spki', format: 'pem' }) as string
}
