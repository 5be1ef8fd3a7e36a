import { UsageError } from '@shiplock/command-line/options'
import { defineCommand } from './command.ts'

const TIMEOUT_MS = 5000

export const health = defineCommand({
  name: 'health',
  about: 'Asks a running server or worker on this machine whether it is alive, for the health checks of containers.',
  arguments: [],
  options: {
    port: { type: 'text', value: 'N', about: 'the port to ask; without it, SHIPLOCK_PORT' },
    ready: { type: 'flag', value: '', about: 'ask whether it can serve requests: /readyz in place of /healthz' },
  },
  async run({ readSettings, print }, _given, { port, ready }) {
    const { host, port: ownPort } = readSettings()
    const path = ready ? '/readyz' : '/healthz'
    const url = `http://${reachable(host)}:${port === undefined ? ownPort : parsePort(port)}${path}`
    const status = await ask(url)
    if (status !== 200) throw new Error(`${url} answered ${status}`)
    print({ json: { url, status }, text: `${url} answered ${status}` })
  },
})

async function ask(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    const { cause, message } = error as Error
    throw new Error(`${url} does not answer (${cause instanceof Error && cause.message ? cause.message : message})`)
  }
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--port must be an integer from 1 to 65535, not "${text}"`)
}

/** A server that listens on all addresses is asked on the loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
