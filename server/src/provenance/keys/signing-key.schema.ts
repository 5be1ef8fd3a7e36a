import { Type } from 'typebox'
import { Closed, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { KEY_ALGORITHM } from './signing-key.ts'

export const SigningKeys = Closed(
  {
    keys: Type.Array(
      Closed({
        keyid: Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'The id of the key: the SHA-256 of its DER SubjectPublicKeyInfo in lowercase hexadecimal.',
        }),
        alg: Type.String({
          description: `The signature algorithm: \`${KEY_ALGORITHM}\`, which is ECDSA with the curve P-256 and SHA-256. Signatures are DER.`,
        }),
        pem: Type.String({ description: 'The public key as a PEM SubjectPublicKeyInfo.' }),
        created_at: { ...Timestamp, description: 'Since when the key signs.' },
        retired_at: Nullable(Timestamp, {
          description: 'Until when the key signed. Null for the current key. What it signed stays valid.',
        }),
      }),
      { description: 'The current key, then the retired ones, newest first. Keys are never removed.' },
    ),
  },
  { $id: 'SigningKeys' },
)
