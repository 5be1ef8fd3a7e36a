import { readEd25519Key, sha256 } from '#crypto'
import { type Bytes, concat, isEqual, toHex, utf8 } from './bytes.ts'
import { Refused } from './checks.ts'
import type { VerifySignature } from './crypto/crypto.ts'
import { decodeBase64 } from './fields.ts'

/** A key that verifies signed notes (C2SP signed-note). `id`: the first four bytes of its hash. */
export type NoteKey = { name: string; id: Bytes; verify: VerifySignature }

const ED25519 = 0x01
const NOTE_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/
const SIGNATURE_LINE = /^— (\S+) (\S+)$/
const ID_BYTES = 4

export function isNoteKey(text: string): boolean {
  return NOTE_KEY.test(text.trim())
}

/** Parses a verifier key, `<name>+<hash>+<key>`. */
export async function readNoteKey(text: string): Promise<NoteKey> {
  const [, name = '', id = '', encoded = ''] = NOTE_KEY.exec(text.trim()) ?? []
  if (name === '') throw new Refused('the log key must have the form <name>+<8 hexadecimal digits>+<base64>')
  const bytes = decodeBase64(encoded, 'the last part of the log key')
  if (bytes[0] !== ED25519 || bytes.length !== 33) throw new Refused('the log key must be an Ed25519 key')
  const expected = (await sha256(concat(utf8(`${name}\n`), bytes))).subarray(0, ID_BYTES)
  if (toHex(expected) !== id) throw new Refused('the log key is damaged: its hash is not that of its name and key')
  return { name, id: expected, verify: readEd25519Key(bytes.subarray(1)) }
}

type NoteSignature = { name: string; id: Bytes; signature: Bytes }
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
export async function verifyNote({ text, signatures }: SignedNote, { name, id, verify }: NoteKey): Promise<void> {
  const own = signatures.filter((signature) => signature.name === name && isEqual(signature.id, id))
  if (own.length === 0) throw new Refused(`the key "${name}" has not signed it`)
  for (const { signature } of own)
    if (!(await verify(utf8(text), signature))) throw new Refused(`the signature of "${name}" does not fit it`)
}
