import type { Sql, Tx } from './sql.ts'

/** Runs `work` in a transaction that is always rolled back, and returns its result. */
export async function rolledBack<Result>(sql: Sql, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const done: { result?: Result } = {}
  const end = new Error('The transaction is rolled back as intended.')
  try {
    await sql.begin(async (tx) => {
      done.result = await work(tx)
      throw end
    })
  } catch (error) {
    if (error !== end) throw error
  }
  return done.result as Result
}
