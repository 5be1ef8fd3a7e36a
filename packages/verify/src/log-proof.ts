import { sha256 } from '#crypto'
import { type Bytes, isEqual, toHex, utf8 } from './bytes.ts'
import { type Checkpoint, readCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { Refused } from './checks.ts'
import { decodeBase64, type Fields } from './fields.ts'
import { hashLeaf, isConsistent, rootOfInclusion } from './merkle-proof.ts'
import type { NoteKey } from './signed-note.ts'

/** The proof that the transparency log contains the statement. */
export type LogProof = {
  origin: string
  entry: string
  leafIndex: number
  treeSize: number
  inclusionProof: Bytes[]
  consistencyProof: Bytes[] | null
  checkpoint: string
}

const FIELDS = ['origin', 'entry', 'leaf_index', 'tree_size', 'inclusion_proof', 'consistency_proof', 'checkpoint']
const HASH_BYTES = 32

export function readLogProof(fields: Fields): LogProof {
  fields.only(FIELDS)
  if (!Object.hasOwn(fields.json, 'consistency_proof')) throw fields.refusal('consistency_proof', 'a list or null')
  return {
    origin: fields.string('origin'),
    entry: fields.string('entry'),
    leafIndex: fields.count('leaf_index'),
    treeSize: fields.count('tree_size'),
    inclusionProof: readHashes(fields, 'inclusion_proof'),
    consistencyProof: fields.has('consistency_proof') ? readHashes(fields, 'consistency_proof') : null,
    checkpoint: fields.string('checkpoint'),
  }
}

function readHashes(fields: Fields, name: string): Bytes[] {
  return fields.strings(name).map((text) => {
    const hash = decodeBase64(text, `each hash of ${name}`)
    if (hash.length !== HASH_BYTES) throw fields.refusal(name, 'a list of hashes of 32 bytes')
    return hash
  })
}

/** The entry of a statement contains only the hash of its payload. */
export async function checkEntry({ entry }: LogProof, payload: Bytes): Promise<string> {
  if (entry !== `shiplock.dev/log-entry/v1\nstatement\n${toHex(await sha256(payload))}\n`)
    throw new Refused('the entry of the log is not the entry of this statement')
  return 'the entry of the log is the SHA-256 of this statement'
}

/** Compares the root that the proof leads to with the root of the checkpoint. */
export async function checkInclusion(proof: LogProof): Promise<string> {
  const { origin, size, root } = readCheckpoint(proof.checkpoint)
  if (origin !== proof.origin)
    throw new Refused(`the proof names the log "${proof.origin}", the checkpoint "${origin}"`)
  if (size !== proof.treeSize) throw new Refused('the proof is for a tree of another size than the checkpoint')
  const leaf = await hashLeaf(utf8(proof.entry))
  const computed = await rootOfInclusion(leaf, proof.leafIndex, proof.treeSize, proof.inclusionProof)
  if (computed === null || !isEqual(computed, root))
    throw new Refused('the inclusion proof does not lead to the root of the checkpoint')
  return `entry ${proof.leafIndex} of ${size} in the log ${origin}`
}

export async function checkCheckpoint(proof: LogProof, key: NoteKey): Promise<string> {
  await verifyCheckpoint(readCheckpoint(proof.checkpoint), key)
  return `the log "${key.name}" signed the checkpoint`
}

/** Compares the checkpoint with an older one, which the reader has kept. */
export async function checkConsistency(proof: LogProof, kept: string, key: NoteKey): Promise<string> {
  const first = await readKept(kept, key)
  const second = readCheckpoint(proof.checkpoint)
  if (first.origin !== second.origin) throw new Refused(`the kept checkpoint is of another log, "${first.origin}"`)
  if (first.size > second.size)
    throw new Refused(
      `the kept checkpoint has ${first.size} entries, and this one only ${second.size}: fetch the statement again; if that does not help, the log was cut`,
    )
  if (first.size === second.size) return checkSameRoot(first, second)
  if (first.size > 0) await checkGrowth(first, second, proof.consistencyProof)
  return `the log has only grown since the kept checkpoint, from ${first.size} to ${second.size} entries`
}

async function readKept(kept: string, key: NoteKey): Promise<Checkpoint> {
  try {
    const checkpoint = readCheckpoint(kept)
    await verifyCheckpoint(checkpoint, key)
    return checkpoint
  } catch (error) {
    if (error instanceof Refused) throw new Refused(`the kept checkpoint: ${error.message}`)
    throw error
  }
}

const REWRITTEN = 'the log was rewritten after the kept checkpoint'

function checkSameRoot(first: Checkpoint, second: Checkpoint): string {
  if (!isEqual(first.root, second.root)) throw new Refused(`${REWRITTEN}: it has another root for the same entries`)
  return 'the log is the same as at the kept checkpoint'
}

async function checkGrowth(first: Checkpoint, second: Checkpoint, proof: Bytes[] | null): Promise<void> {
  if (proof === null)
    throw new Refused(
      `the consistency proof is missing: fetch the statement with ?bundle=true&checkpoint_size=${first.size}`,
    )
  if (!(await isConsistent(first, second, proof)))
    throw new Refused(`${REWRITTEN}, or the consistency proof is for another size than ${first.size}`)
}
