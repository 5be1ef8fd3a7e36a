import type { PolicyInput } from '../policy-input.schema.ts'

/** OPA could not be asked, or did not answer as it should. The message is for people. */
export class OpaError extends Error {}

const TIMEOUT_MS = 2000
const ANSWER_BYTES_MAX = 1024 * 1024

/** What an OPA server decides at a path (openpolicyagent.org, "REST API", "Get a Document (with Input)"); undefined where nothing. */
export async function askOpa(url: string, decision: string, input: PolicyInput): Promise<unknown> {
  const response = await fetch(`${url}/v1/data/${decision}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(refuse)
  if (!response.ok) {
    await response.body?.cancel()
    throw new OpaError(`OPA answered with status ${response.status}`)
  }
  return parseAnswer(await readBounded(response).catch(refuse))
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
    return (JSON.parse(text) as { result?: unknown } | null)?.result
  } catch {
    throw new OpaError('OPA answered with something that is no JSON')
  }
}
