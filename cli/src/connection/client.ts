import type { Context } from '@shiplock/command-line/command'
import { type Options, UsageError } from '@shiplock/command-line/options'
import { oneLine } from '@shiplock/command-line/printable'
import { createClient, type OlderServer, type Retry, type ShiplockClient, ShiplockError } from '@shiplock/sdk'
import own from '../../package.json' with { type: 'json' }
import { findCredential, type TokenSource } from './credential.ts'
import { defaultServer } from './stored-logins.ts'

/** The options of every command that talks to a server. */
export const SERVER_OPTIONS = {
  url: { type: 'text', value: 'URL', about: 'the server (SHIPLOCK_URL; by default the last login)' },
  audience: {
    type: 'text',
    value: 'A',
    about:
      'the audience of the OIDC token on GitHub (SHIPLOCK_AUDIENCE; by default the origin of the URL, with /SHIPLOCK_ORGANIZATION if that is set)',
  },
  json: { type: 'flag', value: '', about: 'print the data of the API as JSON, and nothing else on standard output' },
  quiet: { type: 'flag', value: '', about: 'print no progress' },
} as const satisfies Options

type ClientContext = Pick<Context, 'env' | 'output' | 'signal'>

type ServerOptions = { url: string | undefined; audience: string | undefined }

/** A client, and the credential that it sends. */
export type Connected = ShiplockClient & { token: TokenSource }

/**
 * The client of the server that the options and the environment name. Throws a `UsageError` if no
 * server or no credential is given.
 */
export function connect(options: ServerOptions, context: ClientContext): Connected {
  const { env } = context
  const url = serverUrl(options.url, env)
  const audience = options.audience || env.SHIPLOCK_AUDIENCE || defaultAudience(url, env)
  const token = findCredential(env, url, audience)
  return { ...openClient(url, token, context), token }
}

/** Where organizations share the server, the audience names the organization. */
function defaultAudience(url: string, env: NodeJS.ProcessEnv): string {
  const { origin } = new URL(url)
  const organization = env.SHIPLOCK_ORGANIZATION?.trim()
  if (!organization) return origin
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(organization)) return `${origin}/${organization}`
  throw new UsageError(`SHIPLOCK_ORGANIZATION must be the short name of an organization, not "${organization}"`)
}

/** A client with a given credential. It says on standard error when it tries again. */
export function openClient(url: string, token: TokenSource, { output, signal }: ClientContext): ShiplockClient {
  return createClient({
    url,
    token,
    userAgent: `shiplock/${own.version}`,
    signal,
    onRetry: (retry) => output.say(describeRetry(retry)),
    onOlderServer: (server) => output.warn(describeOlder(url, server)),
  })
}

/** The URL of the server, without a slash at its end. */
export function serverUrl(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const text = option ?? (env.SHIPLOCK_URL?.trim() || defaultServer(env))
  if (!text) throw new UsageError('There is no server: give its address with --url or SHIPLOCK_URL')
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`The address of the server must be an http or https URL, not "${text}"`)
  }
  const url = new URL(text)
  if (url.username || url.password)
    throw new UsageError('The address of the server must not contain a user or password')
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
}

function describeOlder(url: string, { version, refused }: OlderServer): string {
  const stated = version === null ? 'states no version' : `states version ${version}`
  if (refused === 'timeout_minutes')
    return `shiplock: The server at ${url} ${stated} and does not know --timeout-minutes of a gate. The gate waits as long as that server lets it.`
  return `shiplock: The server at ${url} ${stated} and does not know all that shiplock ${own.version} says about servers, jobs and tries of a CI. It gets the rest.`
}

/** The first line of what a person reads when a server is down. */
function describeRetry({ error, delayMs, attempt, attempts }: Retry): string {
  const what = oneLine(error.message).replace(/\.$/, '')
  return `${what}. Retrying in ${Math.ceil(delayMs / 1000)} s (try ${attempt + 1} of ${attempts})`
}

/**
 * Does work with the API. If the credential lacks the scope of the work, the error names the scope,
 * which the answer of the server does not.
 */
export async function namingScope<Result>(scope: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ShiplockError) || error.code !== 'forbidden') throw error
    throw new Error(`The credential does not have the scope ${scope}, which this command needs (403 forbidden)`)
  }
}
