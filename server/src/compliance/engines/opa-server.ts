/** OPA could not be reached or returned no usable answer. Users see the message. */
export class OpaError extends Error {}

/** OPA does not accept a module. The messages state where, and why. */
export class RegoError extends Error {
  readonly mistakes: readonly RegoMistake[]

  constructor(mistakes: readonly RegoMistake[]) {
    super(mistakes.map(({ message }) => message).join('; '))
    this.mistakes = mistakes
  }
}

type RegoMistake = { line: number; column: number; message: string }

const TIMEOUT_MS = 2000
const ANSWER_BYTES_MAX = 1024 * 1024

/** What the server says of its own work with `metrics`. */
type OpaMetrics = { timer_server_handler_ns?: unknown }

/**
 * Queries a decision (OPA documentation, "REST API", "Get a Document (with Input)"). Returns
 * undefined if OPA leaves the decision undefined. `note` is told how long OPA has worked, without
 * what it takes to reach it ("Performance Metrics").
 */
export async function fetchOpaDecision(
  url: string,
  decision: string,
  input: object,
  note: (usedMs: number) => void = () => {},
): Promise<unknown> {
  const { status, body } = await askOpa(`${url}/v1/data/${decision}?metrics=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  const { result, metrics } = (body ?? {}) as { result?: unknown; metrics?: OpaMetrics }
  note((Number(metrics?.timer_server_handler_ns) || 0) / 1e6)
  if (status !== 200) throw new OpaError(`OPA answered with status ${status}`)
  return result
}

/**
 * Stores a module on the server ("Create or Update a Policy"). Throws `RegoError` if it does not
 * compile.
 */
export async function sendModule(url: string, id: string, module: string): Promise<void> {
  const request = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: module }
  const { status, body } = await askOpa(`${url}/v1/policies/${id}`, request)
  if (status === 200) return
  if (status === 400) throw new RegoError(mistakesIn(body))
  throw new OpaError(`OPA answered with status ${status} when it was given the policy`)
}

/** Throws `OpaError` unless the server is ready ("Health API"). */
export async function checkOpa(url: string): Promise<void> {
  const { status } = await askOpa(`${url}/health`, { method: 'GET' })
  if (status !== 200) throw new OpaError(`OPA answered with status ${status}`)
}

type OpaMistake = { message?: unknown; location?: { row?: unknown; col?: unknown } }

function mistakesIn(body: unknown): RegoMistake[] {
  const { errors, message } = (body ?? {}) as { errors?: OpaMistake[]; message?: unknown }
  const listed = Array.isArray(errors) ? errors : []
  if (listed.length === 0) return [{ line: 1, column: 1, message: String(message ?? 'OPA refuses the module') }]
  return listed.map(({ message: text, location }) => ({
    line: Number(location?.row) || 1,
    column: Number(location?.col) || 1,
    message: String(text ?? 'OPA refuses the module'),
  }))
}

async function askOpa(url: string, request: RequestInit): Promise<{ status: number; body: unknown }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { ...request, redirect: 'error', signal }).catch(refuse)
  const text = await readBounded(response).catch(refuse)
  return { status: response.status, body: response.ok || response.status === 400 ? parseAnswer(text) : null }
}

function refuse(error: unknown): never {
  if (error instanceof OpaError) throw error
  const isTimeout = error instanceof Error && error.name === 'TimeoutError'
  throw new OpaError(isTimeout ? `OPA did not answer within ${TIMEOUT_MS} ms` : 'OPA could not be reached', {
    cause: error,
  })
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > ANSWER_BYTES_MAX) throw new OpaError(`OPA answered with more than ${ANSWER_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new OpaError('The answer of OPA is not valid JSON')
  }
}
