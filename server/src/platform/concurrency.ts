import { isUnreachable } from './unreachable.ts'

type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (reason: unknown) => void }

/** How many batches may run at the same time, and how many items one may have. */
type BatchLimits = { runningMax: number; itemsMax: number }

const LIMITS: BatchLimits = { runningMax: 3, itemsMax: 100 }

/**
 * Processes items in batches. The first item starts a batch at once; items that arrive meanwhile
 * form the next one. If a batch fails, its items are run one by one, so that one bad item fails
 * alone, unless the database is unreachable: then all fail at once. `run` must therefore be
 * repeatable. It returns results in the order of the items.
 */
export class Batch<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  readonly #limits: BatchLimits
  #waiting: Waiting<Item, Result>[] = []
  #running = 0
  #starting = false

  constructor(run: (items: Item[]) => Promise<Result[]>, limits = LIMITS) {
    this.#run = run
    this.#limits = limits
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#startSoon()
    })
  }

  /** Runs after the requests that have already arrived were read. */
  #startSoon(): void {
    if (this.#starting || this.#running >= this.#limits.runningMax || this.#waiting.length === 0) return
    this.#starting = true
    setImmediate(() => {
      this.#starting = false
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#limits.itemsMax)
    this.#running += 1
    await this.#settle(batch)
    this.#running -= 1
    this.#startSoon()
  }

  async #settle(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result)
    } catch (error) {
      if (isUnreachable(error)) for (const { reject } of batch) reject(error)
      else if (batch.length > 1) await Promise.all(batch.map((waiting) => this.#settle([waiting])))
      else batch[0]?.reject(error)
    }
  }
}

/**
 * Works on items concurrently, with a concurrency limit. After a failure no other item is started;
 * the first error is thrown when the started ones have ended.
 */
export async function runConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const errors: unknown[] = []
  const runNext = async () => {
    try {
      while (errors.length === 0) {
        const { done, value } = await source.next()
        if (done) return
        await work(value)
      }
    } catch (error) {
      errors.push(error)
    }
  }
  await Promise.all(Array.from({ length: limit }, runNext))
  if (errors.length > 0) throw errors[0]
}

/** Maps items with a concurrency limit. The results have the order of the items. */
export async function collectConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  await runConcurrently(items.entries(), limit, async ([at, item]) => {
    results[at] = await map(item)
  })
  return results
}
