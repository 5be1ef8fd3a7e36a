import pg from 'pg'
import type { Prepared, PreparedStatements } from './prepared-statements.ts'
import type { CopyConnection, Query } from './query.ts'
import type { Preparable } from './template.ts'
import { formatValue, getParser } from './types.ts'

/** The part of a connection of pg that statements are written to. */
export type Wire = {
  query(text: string): void
  parse(statement: Preparable & { name: string }): void
  describe(what: { type: 'S' | 'P'; name: string }): void
  bind(values: {
    statement: string
    values: readonly unknown[]
    valueMapper: (value: unknown, at: number) => string | Buffer | null
  }): void
  execute(portal: { rows: number }): void
  close(what: { type: 'S' | 'P'; name: string }): void
  flush(): void
  sync(): void
}

export type Field = { name: string; dataTypeID: number }

/** The connection of an execution. */
export type Carrier = CopyConnection & {
  readonly prepared: PreparedStatements
  run(query: Query<unknown>): void
  proceed(): void
  finished(execution: Execution, error: Error | null): void
  toFailure(error: Error): Error
}

type Row = Record<string, unknown>

class Rows extends Array<Row> {
  count = 0

  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }
}

/** pg hands answers to the methods of its queries. Its types declare only `submit`. */
const PgQuery = pg.Query as unknown as new (text: string) => object

/** PostgreSQL has dropped what it had prepared, or the tables have changed since. */
const PREPARE_AGAIN = ['FetchPreparedStatement', 'RevalidateCachedQuery', 'transformAssignedExpr']

/**
 * One attempt of a query on a connection. The parameters of a statement that is new to the
 * connection are sent when PostgreSQL has described their types.
 */
export class Execution extends PgQuery {
  readonly #query: Query<unknown>
  readonly #channel: Carrier
  readonly #rowsAtOnce: number
  #prepared: Prepared = { name: '', types: [], columns: [] }
  #isNew = false
  /** PostgreSQL waits for more, so that an error must be followed by a sync. */
  #isOpen = false
  /** Why the parameters were not sent. */
  #refusal: Error | null = null
  #rows = new Rows()
  #results: Rows[] | null = null

  constructor(query: Query<unknown>, channel: Carrier) {
    super('')
    this.#query = query
    this.#channel = channel
    this.#rowsAtOnce = query.conversation?.rowsAtOnce ?? 0
  }

  /** Called by pg. Returns an error if nothing was sent. */
  submit(wire: Wire): Error | null {
    const { rendered, mode } = this.#query
    if (mode === 'simple') {
      wire.query(rendered.preparable.text)
      return null
    }
    const known = mode === 'prepared' ? this.#channel.prepared.find(rendered) : undefined
    if (known === undefined) {
      this.#prepare(wire)
      return null
    }
    this.#prepared = known
    return this.#bind(wire)
  }

  /** Whether the next statement can be sent before this one is answered. */
  get canBeFollowed(): boolean {
    return !this.#isNew && this.#query.conversation === null
  }

  #prepare(wire: Wire): void {
    const { rendered, mode } = this.#query
    const name = mode === 'prepared' ? this.#channel.prepared.nextName() : ''
    this.#prepared = { name, types: [], columns: [] }
    this.#isNew = true
    this.#isOpen = true
    wire.parse({ ...rendered.preparable, name })
    wire.describe({ type: 'S', name })
    if (rendered.values.length > 0) wire.flush()
    else this.#bind(wire)
  }

  #bind(wire: Wire): Error | null {
    const { types, name } = this.#prepared
    const { values } = this.#query.rendered
    const valueMapper = (value: unknown, at: number) => formatValue(value, types[at] as number)
    try {
      wire.bind({ statement: name, values, valueMapper })
    } catch (error) {
      return error as Error
    }
    wire.execute({ rows: this.#rowsAtOnce })
    this.#isOpen = this.#rowsAtOnce > 0
    if (this.#isOpen) wire.flush()
    else wire.sync()
    return null
  }

  /** The types of the parameters of a new statement. */
  handleParameterTypes(types: readonly number[], wire: Wire): void {
    const { rendered, mode } = this.#query
    this.#prepared.types = types
    if (mode === 'prepared') {
      const oldest = this.#channel.prepared.add(rendered, this.#prepared)
      if (oldest) wire.close({ type: 'S', name: oldest.name })
    }
    this.#refusal = rendered.values.length > 0 ? this.#bind(wire) : null
    if (this.#refusal) this.#sync(wire)
    this.#isNew = false
    this.#channel.proceed()
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#prepared.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: getParser(dataTypeID) }))
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { columns } = this.#prepared
    const row: Row = {}
    for (let at = 0; at < fields.length; at += 1) {
      const { name, parse } = columns[at] as Prepared['columns'][number]
      const text = fields[at] as string | null
      row[name] = text === null || parse === undefined ? text : parse(text)
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }, wire: Wire): void {
    const count = Number(text.slice(text.lastIndexOf(' ') + 1))
    this.#rows.count = Number.isNaN(count) ? 0 : count
    if (this.#isOpen) this.#sync(wire)
    if (this.#query.mode !== 'simple') return
    this.#results ??= []
    this.#results.push(this.#rows)
    this.#rows = new Rows()
  }

  handleEmptyQuery(wire: Wire): void {
    if (this.#isOpen) this.#sync(wire)
  }

  handlePortalSuspended(wire: Wire): void {
    const rows = this.#rows
    this.#rows = new Rows()
    this.#query.conversation?.receiveRows?.(rows, (isWanted) => {
      if (!isWanted) return void this.#sync(wire)
      wire.execute({ rows: this.#rowsAtOnce })
      wire.flush()
    })
  }

  #sync(wire: Wire): void {
    this.#isOpen = false
    wire.sync()
  }

  handleCopyInResponse(): void {
    this.#query.conversation?.beginCopy?.(this.#channel)
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#query.conversation?.receiveCopy?.(chunk, this.#channel)
  }

  handleError(error: Error, wire: Wire): void {
    if (this.#isOpen) this.#sync(wire)
    this.#isNew = false
    const isRepeated = this.#canRepeat(error)
    if (isRepeated) this.#repeat(error)
    this.#channel.finished(this, error)
    if (!isRepeated) this.#query.fail(this.#query.firstError ?? this.#channel.toFailure(error))
  }

  #canRepeat(error: Error & { routine?: string }): boolean {
    const { mode, firstError } = this.#query
    return mode === 'prepared' && firstError === null && PREPARE_AGAIN.includes(error.routine ?? '')
  }

  /** Before the connection is idle, so that it is not given to anybody else. */
  #repeat(error: Error): void {
    this.#query.firstError = error
    this.#channel.prepared.remove(this.#query.rendered)
    this.#channel.run(this.#query)
  }

  handleReadyForQuery(): void {
    this.#channel.finished(this, null)
    if (this.#refusal) return void this.#query.fail(this.#refusal)
    const [only] = this.#results ?? [this.#rows]
    this.#query.succeed(this.#results !== null && this.#results.length > 1 ? this.#results : (only ?? this.#rows))
  }
}
