import type { Channel } from './channel.ts'
import { isFromServer } from './connection-error.ts'
import type { Pool } from './pool.ts'
import { Query } from './query.ts'
import { createStatements, type ReservedConnection, type Transaction } from './statements.ts'

const IN_FAILED_TRANSACTION = '25P02'

type Work<Result> = (tx: Transaction) => Result | Promise<Result>

/**
 * Runs `work` in a transaction, which is rolled back if it fails, or if one of its statements has
 * failed. Fails at once when the connection is lost; what `work` still sends fails then, too.
 */
export async function runTransaction<Result>(pool: Pool, mode: string, work: Work<Result>): Promise<Result> {
  const channel = await pool.acquire()
  const { promise: lost, reject: lose } = Promise.withResolvers<never>()
  lost.catch(() => {})
  channel.onLost = lose
  try {
    await send(channel, mode === '' ? BEGIN : [`begin ${mode.replace(/[^a-z ]/gi, '')}`])
    const scope = new Scope(channel, ENDS)
    return await Promise.race([scope.run(work), lost])
  } finally {
    pool.release(channel)
  }
}

/** A connection for exclusive use. */
export async function reserve(pool: Pool): Promise<ReservedConnection> {
  const channel = await pool.acquire()
  let isReleased = false
  const release = () => {
    if (!isReleased) pool.release(channel)
    isReleased = true
  }
  return Object.assign(
    createStatements((query) => channel.run(query)),
    { release },
  ) as ReservedConnection
}

type Ends = { rollback: readonly string[]; commit: readonly string[] }

const BEGIN = ['begin']
const ENDS: Ends = { rollback: ['rollback'], commit: ['commit'] }

/** A transaction, or what follows a savepoint. */
class Scope {
  readonly #channel: Channel
  readonly #ends: Ends
  #savepoints = 0
  /** Of the first statement that failed. */
  #error: unknown
  #isOver = false

  constructor(channel: Channel, ends: Ends) {
    this.#channel = channel
    this.#ends = ends
  }

  async run<Result>(work: Work<Result>): Promise<Result> {
    let result: Result
    try {
      result = await work(this.#open())
      if (this.#error !== undefined) throw this.#error
    } catch (error) {
      this.#isOver = true
      await send(this.#channel, this.#ends.rollback)
      throw isLate(error) ? (this.#error ?? error) : error
    }
    this.#isOver = true
    await send(this.#channel, this.#ends.commit)
    return result
  }

  #open(): Transaction {
    const note = (error: unknown) => {
      this.#error ??= error
    }
    const run = (query: Query<unknown>) => {
      query.catch(note)
      if (this.#isOver) query.fail(new Error('The transaction has ended.'))
      else this.#channel.run(query)
    }
    const savepoint = (work: Work<unknown>) => this.#savepoint(work)
    return Object.assign(createStatements(run), { savepoint }) as Transaction
  }

  async #savepoint(work: Work<unknown>): Promise<unknown> {
    this.#savepoints += 1
    const name = `s${this.#savepoints}`
    await send(this.#channel, [`savepoint ${name}`])
    const release = `release savepoint ${name}`
    const ends = { rollback: [`rollback to savepoint ${name}; ${release}`], commit: [release] }
    return new Scope(this.#channel, ends).run(work)
  }
}

/** Whether a statement only failed because an earlier one has. */
function isLate(error: unknown): boolean {
  return isFromServer(error) && error.code === IN_FAILED_TRANSACTION
}

async function send(channel: Channel, strings: readonly string[]): Promise<void> {
  await new Query({ strings, values: [] }, 'simple', (query) => channel.run(query))
}
