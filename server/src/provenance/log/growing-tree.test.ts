import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GrowingTree } from './growing-tree.ts'
import { computeInclusionRanges, hashLeaf, hashNode, hashOfSubtrees, hashTree, splitRange } from './merkle-tree.ts'
import { TILE_WIDTH, type Tile, Tiles } from './tile.ts'

const SIZE_MAX = 70_000
const leaves = Array.from({ length: SIZE_MAX }, (_, at) => hashLeaf(`entry ${at}`))

/** The stored tiles of a tree that grows batch by batch, each time from what is stored. */
class StoredTree {
  readonly #tiles = new Map<string, Tile>()
  #size = 0
  root = hashTree([])

  grow(count: number): void {
    const tree = new GrowingTree(this.#size, this.tiles())
    const full = leaves.slice(this.#size, this.#size + count).flatMap((leaf) => tree.append(leaf))
    for (const tile of [...full, ...tree.partialTiles()]) this.#tiles.set(`${tile.level}/${tile.index}`, tile)
    this.#size = tree.size
    this.root = tree.root()
  }

  tiles(): Tiles {
    return new Tiles([...this.#tiles.values()])
  }

  widths(level: number): number[] {
    const tiles = [...this.#tiles.values()].filter((tile) => tile.level === level)
    return tiles.sort((a, b) => a.index - b.index).map(({ hashes }) => hashes.length / 32)
  }
}

test('a tree has the same root however its leaves were batched, and proofs can be computed from its tiles', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 6 }), (batches) => {
      const stored = new StoredTree()
      for (const batch of batches) stored.grow(batch)
      const size = batches.reduce((sum, batch) => sum + batch, 0)
      assert.deepEqual(stored.root, hashTree(leaves.slice(0, size)))
      const tiles = stored.tiles()
      const proof = computeInclusionRanges(size - 1, { start: 0, end: size }).map((range) =>
        hashOfSubtrees(splitRange(range).map((subtree) => tiles.hashOf(subtree))),
      )
      const last = leaves[size - 1] as Buffer
      assert.deepEqual(
        proof.reduce((right, left) => hashNode(left, right), last),
        stored.root,
      )
    }),
    { numRuns: 50 },
  )
})

test('70,000 entries have the tiles that the specification names', () => {
  const stored = new StoredTree()
  for (const batch of [1, 255, 256, 4096, 60_928, 4464]) stored.grow(batch)
  assert.deepEqual(stored.widths(0), [...Array.from({ length: 273 }, () => TILE_WIDTH), 112])
  assert.deepEqual(stored.widths(1), [TILE_WIDTH, 17])
  assert.deepEqual(stored.widths(2), [1])
  assert.deepEqual(stored.root, hashTree(leaves))
})

test('a tile that is missing is an error', () => {
  assert.throws(() => new GrowingTree(300, new Tiles([])), /Tile 0\/1 of the transparency log does not have 44 hashes/)
})
