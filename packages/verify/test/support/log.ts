import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A transparency log in memory. Computes trees by the recursive definitions of RFC 9162 §2.1. */
export class TestLog {
  readonly entries: string[] = []
  readonly origin: string
  readonly verifierKey: string
  readonly #privateKey: KeyObject
  readonly #id: Buffer

  constructor(origin = 'shiplock.example.com/log') {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
    const encoded = Buffer.concat([Buffer.from([1]), raw])
    this.origin = origin
    this.#privateKey = privateKey
    this.#id = createHash('sha256').update(`${origin}\n`).update(encoded).digest().subarray(0, 4)
    this.verifierKey = `${origin}+${this.#id.toString('hex')}+${encoded.toString('base64')}`
  }

  /** Adds an entry, and returns its index. */
  add(kind: string, sha256: string): number {
    return this.entries.push(`shiplock.dev/log-entry/v1\n${kind}\n${sha256}\n`) - 1
  }

  checkpoint(size = this.entries.length): string {
    const text = `${this.origin}\n${size}\n${treeHash(this.entries.slice(0, size)).toString('base64')}\n`
    const signature = Buffer.concat([this.#id, sign(null, Buffer.from(text), this.#privateKey)])
    return `${text}\n— ${this.origin} ${signature.toString('base64')}\n`
  }

  /** The proof of an entry, in the form of the API. */
  proof(index: number, checkpointSize?: number) {
    const size = this.entries.length
    const consistency = checkpointSize === undefined ? null : consistencyProof(this.entries, checkpointSize)
    return {
      origin: this.origin,
      entry: this.entries[index],
      leaf_index: index,
      tree_size: size,
      inclusion_proof: inclusionProof(this.entries, index).map((hash) => hash.toString('base64')),
      consistency_proof: consistency?.map((hash) => hash.toString('base64')) ?? null,
      checkpoint: this.checkpoint(),
    }
  }
}

function sha256(prefix: number, ...parts: (Buffer | string)[]): Buffer {
  const hash = createHash('sha256').update(Buffer.from([prefix]))
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The largest power of two smaller than the number of entries. */
function split(count: number): number {
  return 2 ** Math.ceil(Math.log2(count) - 1)
}

export function treeHash(entries: string[]): Buffer {
  if (entries.length === 0) return createHash('sha256').digest()
  if (entries.length === 1) return sha256(0, entries[0] as string)
  const middle = split(entries.length)
  return sha256(1, treeHash(entries.slice(0, middle)), treeHash(entries.slice(middle)))
}

export function inclusionProof(entries: string[], index: number): Buffer[] {
  if (entries.length === 1) return []
  const middle = split(entries.length)
  const [left, right] = [entries.slice(0, middle), entries.slice(middle)]
  return index < middle
    ? [...inclusionProof(left, index), treeHash(right)]
    : [...inclusionProof(right, index - middle), treeHash(left)]
}

/** The proof that the tree of all entries extends the tree of the first ones. */
export function consistencyProof(entries: string[], size: number): Buffer[] {
  if (size === 0 || size === entries.length) return []
  return subproof(entries, size, true)
}

function subproof(entries: string[], size: number, isWhole: boolean): Buffer[] {
  if (size === entries.length) return isWhole ? [] : [treeHash(entries)]
  const middle = split(entries.length)
  const [left, right] = [entries.slice(0, middle), entries.slice(middle)]
  return size <= middle
    ? [...subproof(left, size, isWhole), treeHash(right)]
    : [...subproof(right, size - middle, false), treeHash(left)]
}
