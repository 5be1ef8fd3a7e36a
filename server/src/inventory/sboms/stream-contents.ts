/** What a stream of documents has: parallel lists, sorted by the number of the facts. */
export type StreamContents = {
  present: number[]
  /** Positions in `present`; -1 is the root, and null is not stated. */
  parents: (number | null)[]
  since: Date[]
  /** What is present although the newest document lacks it. */
  held: number[]
}

/** A document as its stream compares it: the numbers of facts and the position of each parent. */
export type NewDocument = { numbers: number[]; parents: (number | null)[]; isComplete: boolean; isConfirmed: boolean }

/**
 * The contents after a document, and how it differs from the document before. `removedSince` is
 * since when each of `removed` was present.
 */
export type ContentsChange = { contents: StreamContents; added: number[]; removed: number[]; removedSince: Date[] }

const GUARDED_MIN = 20

/**
 * Compares a document with its stream. One that is not complete closes nothing. One that lacks more
 * than half of what was present closes only what the one before it lacked too.
 */
export function compareContents(stream: StreamContents, document: NewDocument, at: Date): ContentsChange {
  const own = sortDocument(document)
  const stated = new Set(own.numbers)
  const held = new Set(stream.held)
  const before = new Set(stream.present.filter((no) => !held.has(no)))
  const missing = stream.present.filter((no) => !stated.has(no))
  const isMost = stream.present.length >= GUARDED_MIN && missing.length * 2 > stream.present.length
  const isDoubted = isMost && !document.isConfirmed
  const kept = document.isComplete ? (isDoubted ? missing.filter((no) => !held.has(no)) : []) : missing
  const since = new Map(stream.present.map((no, position) => [no, stream.since[position] as Date]))
  const parentOf = new Map(own.numbers.map((no, position) => [no, own.parents[position] as number | null]))
  const present = [...own.numbers, ...kept].sort((a, b) => a - b)
  const positions = new Map(present.map((no, position) => [no, position]))
  const toPosition = (no: number | null | undefined) => (no == null || no < 0 ? (no ?? null) : positions.get(no))
  const removed = [...before].filter((no) => !stated.has(no))
  return {
    contents: {
      present,
      parents: present.map((no) => toPosition(parentOf.get(no)) ?? null),
      since: present.map((no) => since.get(no) ?? at),
      held: kept,
    },
    added: own.numbers.filter((no) => !before.has(no)),
    removed,
    removedSince: removed.map((no) => since.get(no) ?? at),
  }
}

/** Each number once and in order, with the number of its parent. */
function sortDocument({ numbers, parents }: NewDocument): Pick<NewDocument, 'numbers' | 'parents'> {
  const byNumber = new Map<number, number | null>()
  for (const [index, no] of numbers.entries()) {
    const parent = parents[index] as number | null
    const parentNumber = parent === null || parent < 0 ? parent : (numbers[parent] as number)
    if (byNumber.get(no) == null) byNumber.set(no, parentNumber === no ? null : parentNumber)
  }
  const sorted = [...byNumber].sort(([a], [b]) => a - b)
  return { numbers: sorted.map(([no]) => no), parents: sorted.map(([, parent]) => parent) }
}
