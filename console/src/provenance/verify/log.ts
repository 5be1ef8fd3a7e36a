import { type Bytes, concat, fromBase64, isEqual, sha256, toHex, utf8 } from './bytes.ts'
import type { SignedStatement } from './envelope.ts'
import { Refused, Skipped } from './statement.ts'

const ED25519 = 0x01
const NOTE_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/
const ID_BYTES = 4
const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

type LogProof = NonNullable<SignedStatement['unsigned']>['log']

type Checkpoint = { origin: string; size: number; root: Bytes; text: string; signatures: string[] }

/** The entry of a statement is the SHA-256 of its payload. */
export async function checkEntry({ entry }: LogProof, payload: Bytes): Promise<void> {
  if (entry !== `shiplock.dev/log-entry/v1\nstatement\n${toHex(await sha256(payload))}\n`)
    throw new Refused('The entry of the log is not the entry of this statement.')
}

/** The proof leads from the entry to the root that the checkpoint states. */
export async function checkInclusion(proof: LogProof): Promise<Checkpoint> {
  const checkpoint = readCheckpoint(proof.checkpoint)
  if (checkpoint.origin !== proof.origin || checkpoint.size !== proof.tree_size)
    throw new Refused('The proof and the checkpoint are of different logs or sizes.')
  const hashes = proof.inclusion_proof.map((hash) => fromBase64(hash) ?? new Uint8Array())
  const leaf = { hash: await hashLeaf(utf8(proof.entry)), index: proof.leaf_index, treeSize: proof.tree_size }
  const root = await rootOfInclusion(leaf, hashes)
  if (root === null || !isEqual(root, checkpoint.root))
    throw new Refused('The inclusion proof does not lead to the root of the checkpoint.')
  return checkpoint
}

/** The key of the log signed the checkpoint (C2SP signed-note, Ed25519). */
export async function checkCheckpoint({ text, signatures, origin }: Checkpoint, logKey: string): Promise<void> {
  const { name, id, bytes } = await readNoteKey(logKey)
  if (name !== origin) throw new Refused(`The checkpoint is of the log “${origin}”, and the key is of “${name}”.`)
  const own = signatures
    .filter((line) => line.startsWith(`— ${name} `))
    .map((line) => fromBase64(line.slice(name.length + 3)) ?? new Uint8Array())
    .filter((signature) => isEqual(signature.slice(0, ID_BYTES), id))
  if (own.length === 0) throw new Refused(`The key of the log “${name}” has not signed the checkpoint.`)
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify']).catch(() => {
    throw new Skipped('This browser cannot verify Ed25519 signatures. Use a newer one, or shiplock verify.')
  })
  for (const signature of own)
    if (!(await crypto.subtle.verify('Ed25519', key, signature.slice(ID_BYTES), utf8(text))))
      throw new Refused('The signature of the checkpoint does not fit it.')
}

/** Origin, size and root; then an empty line and the signatures (C2SP tlog-checkpoint). */
function readCheckpoint(note: string): Checkpoint {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const [origin = '', size = '', root = ''] = text.split('\n')
  const bytes = fromBase64(root)
  if (end < 0 || !/^\d{1,16}$/.test(size) || bytes?.length !== 32)
    throw new Refused('The checkpoint does not have the form of a checkpoint.')
  const signatures = note
    .slice(end + 2)
    .split('\n')
    .filter(Boolean)
  return { origin, size: Number(size), root: bytes, text, signatures }
}

async function readNoteKey(text: string): Promise<{ name: string; id: Bytes; bytes: Bytes }> {
  const [, name = '', hash = '', encoded = ''] = NOTE_KEY.exec(text.trim()) ?? []
  const typed = fromBase64(encoded)
  if (typed === null || typed[0] !== ED25519 || typed.length !== 33)
    throw new Refused('The key of the log is not an Ed25519 key.')
  const id = (await sha256(concat(utf8(`${name}\n`), typed))).slice(0, ID_BYTES)
  if (toHex(id) !== hash) throw new Refused('The key of the log is damaged.')
  return { name, id, bytes: typed.slice(1) }
}

/** The hash of an entry of a log (RFC 6962 §2.1). */
function hashLeaf(entry: Bytes): Promise<Bytes> {
  return sha256(LEAF, entry)
}

type Leaf = { hash: Bytes; index: number; treeSize: number }

/**
 * Computes the root from a leaf and its inclusion proof (RFC 9162 §2.1.3.2). Null if the proof has
 * the wrong length, or the tree has no such leaf.
 */
async function rootOfInclusion(leaf: Leaf, proof: readonly Bytes[]): Promise<Bytes | null> {
  if (leaf.index >= leaf.treeSize) return null
  let [node, last, hash] = [leaf.index, leaf.treeSize - 1, leaf.hash]
  for (const sibling of proof) {
    if (last === 0) return null
    if (node % 2 === 1 || node === last) {
      hash = await hashNode(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = await hashNode(hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? hash : null
}

function hashNode(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(concat(NODE, left, right))
}

/** Sizes can exceed 32 bits, which shifts would cut off. */
function half(count: number): number {
  return Math.floor(count / 2)
}
