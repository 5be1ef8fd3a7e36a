import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import type { FakeGitHub } from '../../../server/test/support/github/fake-github.ts'
import type { Json } from '../../../server/test/support/json.ts'

/**
 * The pages of GitHub that create and install an App, in front of a fake GitHub, whose API answers
 * everything else. `fake` is set when it has started.
 */
export type GitHubPages = { url: string; fake: FakeGitHub | null; close(): void }

export async function startGitHubPages(login: string): Promise<GitHubPages> {
  let manifest: Json = null
  const pages: GitHubPages = { url: '', fake: null, close: () => server.close() }
  const server: Server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', pages.url)
    const state = searchParams.get('state') ?? ''
    const fake = pages.fake as FakeGitHub
    if (pathname === '/settings/apps/new') {
      manifest = JSON.parse(new URLSearchParams(await text(request)).get('manifest') ?? '')
      return sendLink(response, `Create GitHub App for ${login}`, `${manifest.redirect_url}?code=c0de&state=${state}`)
    }
    if (pathname.startsWith('/app-manifests/')) return sendJson(response, 201, createdApp(fake, pages.url))
    if (pathname === '/apps/shiplock-acme/installations/new') {
      const { id } = fake.install(login)
      return sendLink(
        response,
        'Install',
        `${manifest.setup_url}?installation_id=${id}&setup_action=install&state=${state}`,
      )
    }
    return forward(request, response, fake)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  pages.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return pages
}

function createdApp({ settings: { appId, privateKey, webhookSecret } }: FakeGitHub, url: string): Json {
  const html_url = `${url}/apps/shiplock-acme`
  return { id: appId, slug: 'shiplock-acme', html_url, pem: privateKey, webhook_secret: webhookSecret }
}

function sendLink(response: ServerResponse, label: string, href: string): void {
  const html = `<!doctype html><title>GitHub</title><a href="${href.replaceAll('&', '&amp;')}">${label}</a>`
  response.writeHead(200, { 'content-type': 'text/html' }).end(html)
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function forward(request: IncomingMessage, response: ServerResponse, fake: FakeGitHub): Promise<void> {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const answer = await fetch(fake.settings.apiUrl + request.url, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    redirect: 'manual',
    ...(hasBody && { body: JSON.stringify(await json(request).catch(() => ({}))) }),
  })
  const kept = [...answer.headers].filter(([name]) => !/^(content-(length|encoding)|transfer-encoding)$/.test(name))
  response.writeHead(answer.status, Object.fromEntries(kept)).end(Buffer.from(await answer.arrayBuffer()))
}
