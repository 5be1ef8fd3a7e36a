import autocannon from 'autocannon'

const CONNECTIONS = 16

type Load = { method: 'GET' | 'POST'; url: string; seconds: number; headers?: Record<string, string> }

/** A number of requests, however long they take. */
type Amount = Omit<Load, 'seconds'> & { amount: number }

/**
 * Requests a second over 16 connections that always have one request under way. `next` gives each
 * request its own key and body, or its own path. Throws when an answer is not a success: a fast
 * refusal would look like speed.
 */
export async function requestsPerSecond(
  { url, method, headers = {}, ...extent }: Load | Amount,
  next?: () => Message | Target,
): Promise<number> {
  const startedAt = performance.now()
  const result = await autocannon({
    url,
    method,
    headers,
    connections: CONNECTIONS,
    ...('amount' in extent ? extent : { duration: extent.seconds }),
    ...(next ? { requests: [{ setupRequest: (request) => Object.assign(request, next()) }] } : {}),
  })
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  const failed = result.non2xx + result.errors
  if (failed > 0) throw new Error(`${failed} requests to ${url} failed: ${JSON.stringify(result.statusCodeStats)}`)
  if (result['2xx'] === 0) throw new Error(`${url} answered nothing`)
  return result['2xx'] / elapsedSeconds
}

export type Message = { headers: Record<string, string>; body: string }

/** Path and headers of one request. */
export type Target = { path: string; headers?: Record<string, string> }

/**
 * Milliseconds that 99 of 100 requests did not need more than, at a steady rate: one that has to
 * wait because others are slow counts from when it should have been sent.
 */
export async function latencyP99(
  { url, method, seconds, perSecond }: Load & { perSecond: number },
  next: () => Message | Target,
) {
  const result = await autocannon({
    url,
    method,
    connections: CONNECTIONS,
    duration: seconds,
    overallRate: perSecond,
    requests: [{ setupRequest: (request) => Object.assign(request, next()) }],
  })
  const failed = result.non2xx + result.errors
  if (failed > 0) throw new Error(`${failed} requests to ${url} failed: ${JSON.stringify(result.statusCodeStats)}`)
  return result.latency.p99
}
