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
