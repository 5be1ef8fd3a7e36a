import { ShiplockError } from './errors.ts'

const GATE_TIMEOUT = '/body/timeout_minutes'

/**
 * The fields of requests about runs, reports and gates that earlier servers refuse (ci-evidence §1), by
 * the pointers of their errors.
 */
const LATER_FIELDS = [
  '/body/ci_instance',
  '/body/continue',
  '/body/expect',
  '/body/job_instance',
  GATE_TIMEOUT,
  '/body/job/key',
  '/body/job/instance',
  '/body/job/retries',
]

const REFUSED = /^(\/body\/[\w/]+): is not a field of this request/

/** The later field that a server does not know; null for any other error. */
function refusedField(error: unknown): string | null {
  if (!(error instanceof ShiplockError) || error.status !== 400) return null
  const field = REFUSED.exec(error.message)?.[1]
  return field !== undefined && LATER_FIELDS.includes(field) ? field : null
}

/** What a server has refused is not sent to it again. */
export class LaterFields {
  readonly #refused = new Set<string>()

  /**
   * Sends a body, and repeats it without the fields that the server does not know. `onOlderServer` is
   * called before the first repetition, and before one that leaves out how long a gate waits.
   */
  async send(
    body: string | null,
    send: (body: string | null) => Promise<Response>,
    onOlderServer: (field: string) => Promise<void>,
  ): Promise<Response> {
    try {
      return await send(this.#without(body))
    } catch (error) {
      const field = refusedField(error)
      if (field === null || this.#refused.has(field)) throw error
      const isFirst = this.#refused.size === 0
      this.#refused.add(field)
      if (isFirst || field === GATE_TIMEOUT) await onOlderServer(field)
      return this.send(body, send, onOlderServer)
    }
  }

  #without(text: string | null): string | null {
    if (text === null || this.#refused.size === 0) return text
    const body = JSON.parse(text)
    for (const field of this.#refused) {
      const [name = '', inner] = field.split('/').slice(2)
      if (inner === undefined) delete body[name]
      else if (body[name]) delete body[name][inner]
    }
    return JSON.stringify(body)
  }
}
