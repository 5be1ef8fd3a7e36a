import type { Config } from '../config.ts'
import { type BoundPort, bindPort } from '../platform/http/bound-port.ts'

const REASONS: Record<string, string> = {
  EADDRINUSE: 'is taken by another program',
  EACCES: 'may not be used by this account',
  EADDRNOTAVAIL: 'cannot be used: this machine does not have that address',
}

/** Takes the port of the settings, or fails with what to do about it. */
export async function bindServerPort({ host, port }: Config): Promise<BoundPort> {
  try {
    return await bindPort(host, port)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = REASONS[code ?? ''] ?? `cannot be used: ${message}`
    throw new Error(`Port ${port} of ${host} ${reason}; set SHIPLOCK_PORT or SHIPLOCK_HOST to others`, { cause })
  }
}
