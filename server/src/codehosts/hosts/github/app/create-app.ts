import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { codeRefused, hostUnavailable } from '../../../../errors/codehosts.ts'
import { ApiError } from '../../../../platform/http/api-error.ts'
import { invalidRequest, missing } from '../../../../platform/http/errors.ts'
import { fetchOutside } from '../../../../platform/outbound/guarded-fetch.ts'
import type { Services } from '../../../../services.ts'
import { findOpenSetup, updateSetupClaimed, updateSetupReleased } from './app.store.ts'
import { createAppManifest, formatNewAppUrl } from './app-manifest.ts'
import type { GithubApp, NewApp } from './github-app.ts'
import { hashState } from './start-setup.ts'

const EXCHANGE_MS_MAX = 10_000
const ANSWER_CHARS_MAX = 1_000_000
const CODE = /^[A-Za-z0-9_-]{1,200}$/

/** The form that creates the App at GitHub. Throws 404 for a wrong, used or expired state. */
export async function readSetup({ config, sql, clock }: Services, state: string) {
  const options = await findOpenSetup(sql, hashState(state), clock.now())
  if (!options) throw unknownState()
  const manifest = createAppManifest(config.baseUrl, options)
  return {
    action: formatNewAppUrl(config.codeHosts.github.url, options.organization, state),
    manifest: JSON.stringify(manifest),
  }
}

/**
 * Exchanges GitHub's code for the credentials of the new App and stores them. Throws 404 for a
 * wrong, used or expired state, 400 if GitHub refuses the code, and 502 if GitHub cannot be
 * reached: then the same address can be opened again.
 */
export async function completeSetup(services: Services, state: string, code: string) {
  const { config, sql, clock, log, hostApps } = services
  if (!CODE.test(code)) throw invalidRequest('The code of GitHub is missing or not valid.')
  const stateSha256 = hashState(state)
  const options = await updateSetupClaimed(sql, stateSha256, clock.now())
  if (options === null) throw unknownState()
  try {
    const app = await exchange(config.codeHosts.github.url, code)
    await (hostApps.get('github') as GithubApp).store(app)
    const { app_id, slug, html_url } = app
    log.info({ app_id, slug }, 'The GitHub App was created')
    // Setups that were stored before an update have no organization.
    return { slug, html_url, org: options.org ?? null }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) throw error
    await updateSetupReleased(sql, stateSha256)
    log.warn({ err: error }, 'The GitHub App could not be created; its address can be opened again')
    throw error
  }
}

const CreatedApp = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  slug: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  html_url: Type.String({ pattern: '^https?://[^\\s"\'<>]{1,480}$' }),
  pem: Type.String({ pattern: '-----BEGIN' }),
  webhook_secret: Type.String({ minLength: 1 }),
})

/** POST /app-manifests/{code}/conversions. The request has no credentials: the code is one. */
async function exchange(apiUrl: string, code: string): Promise<NewApp> {
  const url = `${apiUrl}/app-manifests/${code}/conversions`
  const { status, text } = await post(url).catch((cause) => Promise.reject(unreachable().causedBy(cause)))
  if (status >= 500 || status === 429) throw unreachable()
  if (status < 200 || status >= 300) {
    const message = `GitHub refused the code with the status ${status}. A code works once and for an hour.`
    throw codeRefused(message)
  }
  const app = text.length <= ANSWER_CHARS_MAX && parseJson(text)
  if (!Value.Check(CreatedApp, app)) throw codeRefused("GitHub's answer does not contain the credentials of the App.")
  const { id, slug, html_url, pem: private_key, webhook_secret } = app
  const name = slug ?? (new URL(html_url).pathname.split('/').at(-1) || String(id))
  return { api_url: apiUrl, app_id: String(id), slug: name, html_url, private_key, webhook_secret }
}

async function post(url: string): Promise<{ status: number; text: string }> {
  const response = await fetchOutside(url, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'Shiplock', 'x-github-api-version': '2022-11-28' },
    redirect: 'manual',
    signal: AbortSignal.timeout(EXCHANGE_MS_MAX),
  })
  return { status: response.status, text: await response.text() }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function unknownState(): ApiError {
  return missing('This address does not exist, has been used or has expired.')
}

function unreachable(): ApiError {
  return hostUnavailable('GitHub could not be reached. Load this page again.')
}
