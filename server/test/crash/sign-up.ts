import type { Json } from '../support/json.ts'
import { runAsProcess } from '../support/program.ts'
import type { Access } from './client.ts'
import type { Installation } from './installation.ts'

const PERSON = { email: 'ada@example.com', name: 'Ada Lovelace', password: 'a plain but long sentence' }

/**
 * The first start: its key, the first Org admin, a gate that keys can answer, and a key that does.
 */
export async function signUp(installation: Installation): Promise<Access> {
  const ready = await installation.start()
  if (ready === null) throw new Error(`The program did not start: ${installation.said}`)
  const { dataDir, settings } = installation
  await configureGate(dataDir, settings, 'default')
  const approver = await createApprover(dataDir, settings, 'default')
  const cookie = await acceptLink(installation.url, ready.setup.link)
  return { url: installation.url, key: ready.key.key, approver, organization: 'default', cookie }
}

export async function configureGate(dataDir: string, settings: Record<string, string>, org: string): Promise<Json> {
  const about = ['--org', org, '--name', 'Production', '--environment', 'production', '--allow-api-keys', '--json']
  const { code, stderr, json } = await runAsProcess(dataDir, ['gate', 'create', ...about], settings)
  if (code !== 0) throw new Error(`The gate was not created: ${stderr}`)
  return json
}

/** A key that opens no gates, and so may answer them. */
export async function createApprover(dataDir: string, settings: Record<string, string>, org: string): Promise<string> {
  const about = ['--org', org, '--name', 'approver', '--scope', 'write:deployments', '--json']
  const { code, stderr, json } = await runAsProcess(dataDir, ['key', 'create', ...about], settings)
  if (code !== 0) throw new Error(`The key was not created: ${stderr}`)
  return json.key
}

/** Makes the account that a link is for. Returns the cookie of its session. */
export async function acceptLink(url: string, link: string): Promise<string> {
  const response = await fetch(`${url}/app/api/links/accept`, {
    method: 'POST',
    headers: { origin: url, 'x-shiplock-csrf': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ token: link.split('#token=')[1], ...PERSON }),
  })
  if (response.status !== 200) throw new Error(`The link was answered with ${response.status}.`)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}
