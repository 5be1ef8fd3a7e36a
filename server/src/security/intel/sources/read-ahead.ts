const AHEAD = 16

/** Reads item after item and yields in order. Some are begun ahead: each alone waits more than it works. */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for await (const item of items) {
    const reading = read(item)
    // A failure is told when its turn comes.
    reading.catch(() => {})
    begun.push(reading)
    if (begun.length >= AHEAD) yield await (begun.shift() as Promise<Result>)
  }
  for (const reading of begun) yield await reading
}
