import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { ConnectionError } from './connection-error.ts'

const contexts = new Map<string, tls.SecureContext>()

/**
 * The certificates to trust: those of Node.js, those of `NODE_EXTRA_CA_CERTS`, and those in the file
 * that `SHIPLOCK_CA_FILE` names. Null if that is not set: then Node.js has the right ones itself.
 * Throws `ConnectionError` if the file has none.
 */
export function readAuthorities(env: NodeJS.ProcessEnv): tls.SecureContext | null {
  const path = env.SHIPLOCK_CA_FILE?.trim()
  if (!path) return null
  const context =
    contexts.get(path) ?? usingFile(path, (own) => tls.createSecureContext({ ca: [...listDefault(env), own] }))
  contexts.set(path, context)
  return context
}

/** The same for everything that this process connects to, by other packages too. Needs Node 24.5. */
export function trustAuthorities(env: NodeJS.ProcessEnv): void {
  const path = env.SHIPLOCK_CA_FILE?.trim()
  if (path) usingFile(path, (own) => tls.setDefaultCACertificates([...listDefault(env), own]))
}

function usingFile<T>(path: string, use: (text: string) => T): T {
  try {
    const own = readFileSync(path, 'utf8')
    if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate in the PEM form')
    return use(own)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConnectionError(`SHIPLOCK_CA_FILE names ${path}, which cannot be used: ${code ?? message}`, {
      isFinal: true,
      cause: error,
    })
  }
}

/** What Node.js trusts. Before Node 22.15 it does not tell, and what it reads itself is read again. */
function listDefault(env: NodeJS.ProcessEnv): string[] {
  if ('getCACertificates' in tls) return tls.getCACertificates('default')
  return [...(tls as typeof import('node:tls')).rootCertificates, ...readExtra(env)]
}

/** Node.js goes on without a file that cannot be read, after a warning of its own. */
function readExtra({ NODE_EXTRA_CA_CERTS: path }: NodeJS.ProcessEnv): string[] {
  try {
    return path ? [readFileSync(path, 'utf8')] : []
  } catch {
    return []
  }
}
