import { readFile } from 'node:fs/promises'
import { type Options, UsageError } from '@shiplock/command-line/options'
import type { HostCredentials } from '../codehosts/code-host.ts'
import { readStandardInput } from './standard-input.ts'

/** Secrets are not given as arguments, which other users of the machine can see. */
export const CREDENTIALS = {
  'token-file': { type: 'text', value: 'FILE', about: 'the token of the account ("-": standard input)' },
  'client-id': { type: 'text', value: 'ID', about: 'the id of an OAuth consumer or a service principal' },
  'client-secret-file': { type: 'text', value: 'FILE', about: 'the secret of the client ("-": standard input)' },
  'tenant-id': { type: 'text', value: 'ID', about: 'the Microsoft Entra tenant of a service principal' },
} as const satisfies Options

type GivenCredentials = { [Name in keyof typeof CREDENTIALS]: string | undefined }

const SECRET_CHARS_MAX = 8000

/** Null without any of the options. */
export async function readCredentials(given: GivenCredentials): Promise<HostCredentials | null> {
  const { 'token-file': tokenFile, 'client-id': client_id, 'client-secret-file': secretFile } = given
  const tenant_id = given['tenant-id'] ?? null
  if (tokenFile !== undefined) {
    if (client_id ?? secretFile ?? tenant_id)
      throw new UsageError('Give either --token-file or --client-id and --client-secret-file')
    return { type: 'token', token: await readSecret('token-file', tokenFile) }
  }
  if (client_id === undefined && secretFile === undefined && tenant_id === null) return null
  if (client_id === undefined || secretFile === undefined)
    throw new UsageError('--client-id and --client-secret-file are given together')
  return { type: 'client', client_id, client_secret: await readSecret('client-secret-file', secretFile), tenant_id }
}

async function readSecret(option: string, path: string): Promise<string> {
  if (path === '-') return readStandardInput(SECRET_CHARS_MAX)
  const secret = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`--${option}: ${error.message}`)
  })
  if (secret.trim() === '' || secret.length > SECRET_CHARS_MAX)
    throw new UsageError(`--${option}: the file must have 1 to ${SECRET_CHARS_MAX} characters`)
  return secret.trim()
}
