type Waiting<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (reason: unknown) => void }

const RUNNING_MAX = 3
const ITEMS_MAX = 100

/**
 * Processes items in batches. The first item starts a batch at once; items that arrive meanwhile
 * form the next one. If a batch fails, its items are run one by one, so that one bad item fails
 * alone. `run` must therefore be repeatable. It returns results in the order of the items.
 */
export class Batch<Item, Result> {
  readonly #run: (items: Item[]) => Promise<Result[]>
  #waiting: Waiting<Item, Result>[] = []
  #running = 0
  #starting = false

  constructor(run: (items: Item[]) => Promise<Result[]>) {
    this.#run = run
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#startSoon()
    })
  }

  /** Runs after the requests that have already arrived were read. */
  #startSoon(): void {
    if (this.#starting || this.#running >= RUNNING_MAX || this.#waiting.length === 0) return
    this.#starting = true
    setImmediate(() => {
      this.#starting = false
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    const batch = this.#waiting.splice(0, ITEMS_MAX)
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
      if (batch.length > 1) await Promise.all(batch.map((waiting) => this.#settle([waiting])))
      else batch[0]?.reject(error)
    }
  }
}
