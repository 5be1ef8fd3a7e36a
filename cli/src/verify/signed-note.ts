import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { Refused } from './checks.ts'
import { decodeBase64 } from './fields.ts'

/** A key that verifies signed notes (C2SP signed-note). `id`: the first four bytes of its hash. */
export type NoteKey = { name: string; id: Buffer; key: KeyObject }

const ED25519 = 0x01
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const NOTE_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/
const SIGNATURE_LINE = /^— (\S+) (\S+)$/
const ID_BYTES = 4

export function isNoteKey(text: string): boolean {
  return NOTE_KEY.test(text.trim())
}

/** Parses a verifier key, `<name>+<hash>+<key>`. */
export function readNoteKey(text: string): NoteKey {
  const [, name = '', id = '', encoded = ''] = NOTE_KEY.exec(text.trim()) ?? []
  if (name === '') throw new Refused('the log key must have the form <name>+<8 hexadecimal digits>+<base64>')
  const bytes = decodeBase64(encoded, 'the last part of the log key')
  if (bytes[0] !== ED25519 || bytes.length !== 33) throw new Refused('the log key must be an Ed25519 key')
  const expected = createHash('sha256').update(`${name}\n`).update(bytes).digest().subarray(0, ID_BYTES)
  if (expected.toString('hex') !== id)
    throw new Refused('the log key is damaged: its hash is not that of its name and key')
  const spki = Buffer.concat([ED25519_SPKI, bytes.subarray(1)])
  return { name, id: expected, key: createPublicKey({ key: spki, format: 'der', type: 'spki' }) }
}

type NoteSignature = { name: string; id: Buffer; signature: Buffer }
export type SignedNote = { text: string; signatures: NoteSignature[] }

/** Parses a signed note: the text, an empty line, and one line for each signature. */
export function readSignedNote(note: string): SignedNote {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new Refused('it is not a signed note')
  const lines = note.slice(end + 2, -1).split('\n')
  return { text: note.slice(0, end + 1), signatures: lines.map(readSignatureLine) }
}

function readSignatureLine(line: string): NoteSignature {
  const [, name = '', encoded = ''] = SIGNATURE_LINE.exec(line) ?? []
  if (name === '') throw new Refused('it has a line after the text that is not a signature')
  const bytes = decodeBase64(encoded, 'the signature of the note')
  if (bytes.length <= ID_BYTES) throw new Refused('it has a signature that is too short')
  return { name, id: bytes.subarray(0, ID_BYTES), signature: bytes.subarray(ID_BYTES) }
}

/** Other keys may have signed the note, too. Their signatures are not verified. */
export function verifyNote({ text, signatures }: SignedNote, { name, id, key }: NoteKey): void {
  const own = signatures.filter((signature) => signature.name === name && signature.id.equals(id))
  if (own.length === 0) throw new Refused(`the key "${name}" has not signed it`)
  if (!own.every(({ signature }) => verify(null, Buffer.from(text), key, signature)))
    throw new Refused(`the signature of "${name}" does not fit it`)
}
