import { Type } from 'typebox'
import { Closed, Nullable, Timestamp } from '../../platform/http/schemas.ts'

const Hash = { pattern: '^[0-9a-f]{64}$' }

/** A position in a chain, as statements show it. */
export const ChainPosition = Closed(
  {
    index: Type.Integer({ minimum: 0, description: "The position in the repository's chain, from 0." }),
    hash: Type.String({
      ...Hash,
      description: 'SHA-256 of the previous hash and the canonical JSON (RFC 8785) of the body, in hexadecimal.',
    }),
    previous_hash: Nullable(
      Type.String({
        ...Hash,
        description: 'The hash of the link before. Null for the first link: 32 zero bytes are hashed.',
      }),
    ),
  },
  { description: 'The link of the hash chain.' },
)

/** A link whose hash was not the expected one. */
export const ChainBreak = Closed({
  index: Type.Integer({ minimum: 0, description: 'The position of the link.' }),
  expected: Type.String({ description: 'The expected hash of the link.' }),
  found: Nullable(Type.String({ description: 'The hash that was found. Null if the link is missing.' })),
  found_at: { ...Timestamp, description: 'When the break was found.' },
  note: Nullable(Type.String({ description: 'What an administrator has recorded about the break.' })),
  acknowledged_at: Nullable({ ...Timestamp, description: 'When the administrator recorded it. Null until then.' }),
})
