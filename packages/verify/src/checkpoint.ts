import type { Bytes } from './bytes.ts'
import { Refused } from './checks.ts'
import { decodeBase64 } from './fields.ts'
import { type NoteKey, readSignedNote, type SignedNote, verifyNote } from './signed-note.ts'

/** The state of a log (C2SP tlog-checkpoint): how many entries it has, and the root of its tree. */
export type Checkpoint = { origin: string; size: number; root: Bytes; note: SignedNote }

const SIZE = /^(?:0|[1-9]\d{0,15})$/
const ROOT_BYTES = 32

/** Reads a checkpoint. Does not verify its signature. */
export function readCheckpoint(text: string): Checkpoint {
  const note = readSignedNote(text)
  const [origin = '', size = '', root = ''] = note.text.split('\n')
  if (origin === '' || !SIZE.test(size) || !Number.isSafeInteger(Number(size)))
    throw new Refused('it is not a checkpoint of a log')
  const bytes = decodeBase64(root, 'the root of the checkpoint')
  if (bytes.length !== ROOT_BYTES) throw new Refused('the root of the checkpoint must have 32 bytes')
  return { origin, size: Number(size), root: bytes, note }
}

/** The log signs with a key that has the name of its origin. */
export async function verifyCheckpoint({ origin, note }: Checkpoint, key: NoteKey): Promise<void> {
  if (origin !== key.name) throw new Refused(`it is of the log "${origin}", and the log key is of "${key.name}"`)
  await verifyNote(note, key)
}
