import type { Query } from './query.ts'

type Batch = { rows: unknown[]; proceed: ((isWanted: boolean) => void) | null }

/** Reads the rows of a statement in batches. The next one is only sent when it is asked for. */
export async function* readBatches(query: Query<unknown>, rowsAtOnce: number): AsyncGenerator<unknown[]> {
  let arrived = Promise.withResolvers<Batch>()
  query.conversation = {
    rowsAtOnce,
    receiveRows: (rows, proceed) => arrived.resolve({ rows, proceed }),
  }
  const last = query.then((rows) => ({ rows: rows as unknown as unknown[], proceed: null }))
  last.catch(() => {})
  for (;;) {
    const { rows, proceed } = await Promise.race([arrived.promise, last])
    arrived = Promise.withResolvers()
    let isWanted = false
    try {
      if (rows.length > 0) yield rows
      isWanted = true
    } finally {
      proceed?.(isWanted)
    }
    if (proceed === null) return
  }
}
