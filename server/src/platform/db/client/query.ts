import type { Duplex } from 'node:stream'
import { isFromServer } from './connection-error.ts'
import { type Measured, type MeasuredStatement, startMeasurement, stopMeasurement } from './statement-metrics.ts'
import { Fragment, type Rendered, renderTemplate, renderText, type Template } from './template.ts'

/** The rows of a result, and how many rows were read or changed. */
type RowList<Result> = Result & { readonly count: number }

/** Sends a statement: to any connection of a pool, or to the one of a transaction. */
export type Runner = (query: Query<unknown>) => void

/** `simple` text is not prepared, has no parameters, and may be several statements. */
export type Mode = 'prepared' | 'unnamed' | 'simple'

/** Takes part in how a statement is answered. */
type Conversation = {
  /** The most rows that are sent at once; 0 for all. */
  rowsAtOnce: number
  /** Receives a part of the rows. `proceed` must be called. */
  receiveRows?(rows: unknown[], proceed: (isWanted: boolean) => void): void
  /** PostgreSQL waits for the data of a COPY. */
  beginCopy?(connection: CopyConnection): void
  receiveCopy?(bytes: Buffer, connection: CopyConnection): void
}

export type CopyConnection = {
  readonly stream: Duplex
  sendCopy(bytes: Uint8Array): void
  endCopy(): void
  failCopy(reason: string): void
  /** Asks the server to cancel the statement. */
  cancel(): void
}

const PARAMETERS_MAX = 65_535

/** Where a template was used first: the stack of an error from PostgreSQL does not tell. */
const origins = new WeakMap<readonly string[], Error>()

/** A statement that is sent when it is first awaited. Until then, it can be part of another one. */
export class Query<Result> extends Fragment implements Promise<RowList<Result>>, MeasuredStatement {
  conversation: Conversation | null = null
  /** Whether a connection has it, so that it does not wait for one any more. */
  isSent = false
  /** Why its first attempt failed, if it is attempted again. */
  firstError: Error | null = null
  readonly measured: Measured = { place: -1, startedAt: 0, work: undefined }
  readonly #run: Runner
  #mode: Mode
  #rendered: Rendered | null = null
  #settled: PromiseWithResolvers<RowList<Result>> | null = null

  constructor(template: Template, mode: Mode, run: Runner) {
    super(template.strings, template.values)
    this.#mode = mode
    this.#run = run
    if (mode === 'prepared' && !origins.has(template.strings)) origins.set(template.strings, new Error())
  }

  get [Symbol.toStringTag](): string {
    return 'Query'
  }

  get mode(): Mode {
    return this.#mode
  }

  /** What is sent. Throws if a value is undefined. */
  get rendered(): Rendered {
    this.#rendered ??=
      this.#mode === 'prepared' ? renderTemplate(this) : renderText(this.strings[0] as string, this.values)
    return this.#rendered
  }

  /** What was sent, or else will be, without values. */
  get text(): string {
    return this.#rendered?.preparable.text ?? this.strings.join('?')
  }

  /** Sends the text as it is. It can be several statements, without parameters. */
  simple(): this {
    this.#mode = 'simple'
    return this
  }

  /** Sends the statement, if that was not done yet. */
  execute(): this {
    if (this.#settled === null) {
      this.#settled = Promise.withResolvers()
      startMeasurement(this)
      this.#start()
    }
    return this
  }

  #start(): void {
    try {
      const { length } = this.rendered.values
      if (length > PARAMETERS_MAX)
        throw new RangeError(`A statement has ${length} parameters; the most are ${PARAMETERS_MAX}`)
    } catch (error) {
      return void this.fail(error as Error)
    }
    this.#run(this as Query<unknown>)
  }

  /** Reads so many rows at a time. The connection does nothing else meanwhile. */
  cursor(rowsAtOnce: number): AsyncIterable<Element<Result>[]> {
    return readBatches(this as Query<unknown>, rowsAtOnce) as AsyncIterable<Element<Result>[]>
  }

  succeed(rows: unknown): void {
    stopMeasurement(this)
    this.#settled?.resolve(rows as RowList<Result>)
  }

  fail(error: Error): void {
    stopMeasurement(this, error)
    const origin = origins.get(this.strings)
    if (isFromServer(error) && origin) error.stack += `\n${origin.stack?.replace(/^.*\n.*\n.*\n/, '')}`
    this.#settled?.reject(error)
  }

  get #promise(): Promise<RowList<Result>> {
    return (this.execute().#settled as PromiseWithResolvers<RowList<Result>>).promise
  }

  // biome-ignore lint/suspicious/noThenProperty: a query is awaited as a promise is
  then<Fulfilled = RowList<Result>, Rejected = never>(
    onFulfilled?: ((rows: RowList<Result>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as promises have it
    onRejected?: ((reason: any) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#promise.then(onFulfilled, onRejected)
  }

  catch<Rejected = never>(
    // biome-ignore lint/suspicious/noExplicitAny: as promises have it
    onRejected?: ((reason: any) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<RowList<Result> | Rejected> {
    return this.#promise.catch(onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<RowList<Result>> {
    return this.#promise.finally(onFinally)
  }
}

type Element<Result> = Result extends readonly (infer Row)[] ? NonNullable<Row> : never

type Batch = { rows: unknown[]; proceed: ((isWanted: boolean) => void) | null }

/** Reads the rows of a statement in batches. The next one is only sent when it is asked for. */
async function* readBatches(query: Query<unknown>, rowsAtOnce: number): AsyncGenerator<unknown[]> {
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
