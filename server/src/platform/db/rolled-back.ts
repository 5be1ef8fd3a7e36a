import type { Sql, Tx } from './sql.ts'

/** What `work` would do, in a transaction that is taken back at its end. */
export async function rolledBack<Result>(sql: Sql, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const done: { result?: Result } = {}
  const end = new Error('The transaction is taken back as it should be.')
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
