import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { ConnectionError, hasCode, isFatal, isFromServer } from './connection-error.ts'
import { type Carrier, Execution, type Wire } from './execution.ts'
import { PreparedStatements } from './prepared-statements.ts'
import type { Query } from './query.ts'
import type { Target } from './target.ts'

type ChannelEvents = {
  /** Nothing is in flight any more. */
  idle?(channel: Channel): void
  lost(channel: Channel, error: Error): void
  notified?(channel: string, payload: string): void
  noticed?: ((message: string) => void) | undefined
}

const IN_FLIGHT_MAX = 100
const COPY_DATA = 0x64

/** A client of pg, with what its types leave out. */
class PgClient extends pg.Client {
  declare readonly processID: number
  declare readonly secretKey: number
  readonly #parameters: Record<string, string>

  constructor({ config, parameters }: Target) {
    super({ ...config, pipeline: true } as pg.ClientConfig)
    this.#parameters = parameters
  }

  getStartupConf(): Record<string, string | undefined> {
    return { user: this.user, database: this.database, ...this.#parameters }
  }
}

/** A connection, on which statements are sent before the earlier ones are answered. */
export class Channel implements Carrier {
  readonly prepared = new PreparedStatements()
  /** Whether a transaction, or whoever has reserved it, has the connection. */
  isExclusive = false
  /** To be closed as soon as it is idle. */
  isExpired = false
  isStandby = false
  inFlight = 0
  /** Tells whoever has the connection exclusively that it was lost. */
  onLost: ((error: Error) => void) | null = null
  /** When it is to be replaced. */
  expiry: NodeJS.Timeout | undefined
  readonly #client: PgClient
  readonly #target: Target
  readonly #events: ChannelEvents
  readonly #backlog: Query<unknown>[] = []
  /** The statement that must be answered, at least in part, before the next one is sent. */
  #blocking: Execution | null = null
  #isCorked = false
  #lost: Error | null = null

  constructor(target: Target, events: ChannelEvents) {
    this.#client = new PgClient(target)
    this.#target = target
    this.#events = events
    this.#listen()
  }

  #listen(): void {
    const { connection } = this.#client
    this.#client.on('error', (error) => this.lose(error))
    this.#client.on('end', () => this.lose(new Error('ended')))
    this.#client.on('notification', ({ channel, payload = '' }) => this.#events.notified?.(channel, payload))
    this.#client.on('notice', ({ message = '' }) => this.#events.noticed?.(message))
    connection.on('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) =>
      this.#blocking?.handleParameterTypes(dataTypeIDs, connection as unknown as Wire),
    )
    connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (parameterName === 'in_hot_standby') this.isStandby = parameterValue === 'on'
    })
  }

  async connect(): Promise<void> {
    const connected = this.#client.connect()
    if (this.#target.isBackground) (this.stream as Socket).unref()
    try {
      await connected
    } catch (error) {
      this.stream.destroy()
      if ((error as Error).message === 'timeout expired') throw new ConnectionError('CONNECT_TIMEOUT', this.address)
      throw this.toFailure(error as Error)
    }
    if (this.#lost) throw this.#lost
  }

  get address(): string {
    const { host, port } = this.#target.config
    return host.startsWith('/') ? host : `${host}:${port}`
  }

  get stream(): Duplex {
    return this.#client.connection.stream
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.#backlog.length === 0
  }

  /** Whether one more statement of a pool can be sent. */
  get isShareable(): boolean {
    return !this.isExclusive && !this.isExpired && this.#blocking === null && this.inFlight < IN_FLIGHT_MAX
  }

  /** Sends a statement after those that were given before it. */
  run(query: Query<unknown>): void {
    if (this.#lost) query.fail(this.#lost)
    else if (this.#blocking || this.#backlog.length > 0) this.#backlog.push(query)
    else this.#send(query)
  }

  #send(query: Query<unknown>): void {
    const execution = new Execution(query, this)
    query.isSent = true
    this.inFlight += 1
    this.#cork()
    this.#client.query(execution as unknown as pg.Submittable)
    if (!execution.canBeFollowed) this.#blocking = execution
  }

  /** What is sent in one go is one write to the socket. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  /** The blocking statement has been described. */
  proceed(): void {
    if (this.#blocking?.canBeFollowed) this.#blocking = null
    this.#sendBacklog()
  }

  /** Called by an execution when it is answered. */
  finished(execution: Execution, error: Error | null): void {
    this.inFlight -= 1
    if (this.#blocking === execution) this.#blocking = null
    if (error && isFatal(error)) this.lose(error)
    this.#sendBacklog()
    if (this.isIdle && !this.#lost) this.#events.idle?.(this)
  }

  #sendBacklog(): void {
    while (this.#blocking === null && this.#backlog.length > 0) this.#send(this.#backlog.shift() as Query<unknown>)
  }

  /** Everything that is in flight, or comes later, fails. What has caused it is the first error. */
  lose(error: Error): void {
    if (this.#lost) return
    this.#lost = this.toFailure(error)
    for (const query of this.#backlog.splice(0)) query.fail(this.#lost)
    this.#events.lost(this, this.#lost)
    this.onLost?.(this.#lost)
  }

  toFailure(error: Error): Error {
    if (isFromServer(error) || error instanceof TypeError || hasCode(error)) return error
    return this.#lost ?? new ConnectionError('CONNECTION_CLOSED', this.address, error)
  }

  /** Ends the connection, which must be idle. */
  async close(): Promise<void> {
    if (!this.#lost) await this.#client.end()
  }

  destroy(): void {
    this.lose(new ConnectionError('CONNECTION_DESTROYED', this.address))
    this.stream.destroy()
  }

  sendCopy(bytes: Uint8Array): void {
    const header = Buffer.allocUnsafe(5)
    header[0] = COPY_DATA
    header.writeInt32BE(bytes.length + 4, 1)
    this.#cork()
    this.stream.write(header)
    this.stream.write(bytes)
  }

  endCopy(): void {
    this.#copy.endCopyFrom()
  }

  failCopy(reason: string): void {
    this.#copy.sendCopyFail(reason)
  }

  get #copy(): { endCopyFrom(): void; sendCopyFail(reason: string): void } {
    return this.#client.connection as never
  }

  cancel(): void {
    const { config } = this.#target
    const { processID, secretKey } = this.#client
    const aside = new PgClient(this.#target).connection as unknown as CancelConnection
    aside.on('error', () => {})
    aside.once('connect', () => aside.cancel(processID, secretKey))
    if (config.host.startsWith('/')) aside.connect(`${config.host}/.s.PGSQL.${config.port}`)
    else aside.connect(config.port, config.host)
  }
}

type CancelConnection = pg.Connection & {
  connect(port: number | string, host?: string): void
  cancel(processId: number, secretKey: number): void
}
