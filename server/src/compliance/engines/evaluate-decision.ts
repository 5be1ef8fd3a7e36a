import type { Services } from '../../services.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import { policyError, type RuleVerdict } from '../policies/policy-verdict.ts'
import { readVerdicts } from './read-verdicts.ts'

/** OPA could not be reached or returned no usable answer. Users see the message. */
class OpaError extends Error {}

const TIMEOUT_MS = 2000
const ANSWER_BYTES_MAX = 1024 * 1024

/** Evaluates a policy on the OPA server. A failure is logged and becomes an `error` verdict. */
export async function evaluateDecision(
  { config, log }: Pick<Services, 'config' | 'log'>,
  decision: string,
  input: PolicyInput,
): Promise<RuleVerdict[]> {
  if (config.opaUrl === null) return policyError('No OPA server is configured: SHIPLOCK_OPA_URL is not set')
  try {
    return readVerdicts(await askOpa(config.opaUrl, decision, input))
  } catch (err) {
    if (!(err instanceof OpaError)) throw err
    log.warn({ err, decision }, 'The OPA server returned no decision')
    return policyError(err.message)
  }
}

/**
 * Queries a decision (OPA documentation, "REST API", "Get a Document (with Input)"). Returns
 * undefined if OPA leaves the decision undefined.
 */
async function askOpa(url: string, decision: string, input: PolicyInput): Promise<unknown> {
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
    throw new OpaError('The answer of OPA is not valid JSON')
  }
}
