import { type Context, defineCommand } from '@shiplock/command-line/command'
import { openClient, SERVER_OPTIONS, serverUrl } from '../connection/client.ts'
import { readSecret } from '../connection/read-secret.ts'
import { loginFile, storeKey } from '../connection/stored-logins.ts'
import { EXIT } from '../program/exit-codes.ts'

export const loginCommand = defineCommand({
  name: 'login',
  summary: 'Store an API key for a server',
  details: [
    'Reads an API key from standard input, checks it against the server, and stores it in the configuration directory of the system, readable for you only. A terminal does not show what you type.',
    'The last server that you logged in to is the default of the other commands. SHIPLOCK_KEY and the tokens of a CI job take precedence over a stored key.',
  ],
  options: { url: SERVER_OPTIONS.url, quiet: SERVER_OPTIONS.quiet },
  examples: [
    'shiplock login --url https://shiplock.example.com',
    'pass show shiplock | shiplock login --url https://shiplock.example.com',
  ],
  async run({ options }, context) {
    const { env, stdin, output } = context
    const url = serverUrl(options.url, env)
    const key = await readSecret(stdin, () => output.warn(`API key for ${url}:`))
    await checkKey(url, key, context)
    storeKey(env, url, key)
    output.say(`Logged in to ${url}. The key is stored in ${loginFile(env)}.`)
    return EXIT.ok
  },
})

/** Throws if the server rejects the key. A key without the scope of this request is accepted. */
async function checkKey(url: string, key: string, context: Context): Promise<void> {
  const client = openClient(url, async () => key, context)
  try {
    await client.api.GET('/v1/runs', { params: { query: { limit: 1 } } })
  } catch (error) {
    const { status } = error as { status?: number }
    if (status === 401) throw new Error(`${url} rejects the key: it is not valid, revoked or expired`)
    if (status !== 403) throw error
  }
}
