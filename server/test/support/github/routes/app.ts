import { randomUUID } from 'node:crypto'
import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import type { OperationName } from '../described.ts'
import { publicUser } from '../objects/accounts.ts'
import { APP_EVENTS, APP_PERMISSIONS, integration, wholeInstallation } from '../objects/app.ts'
import { wholeRepository } from '../objects/repository.ts'
import { listOf, pageOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

function asApp(handler: Handler): Handler {
  return (request) => {
    if (request.caller.type !== 'app') throw new HttpError(401, 'A JSON web token could not be decoded')
    return handler(request)
  }
}

/** The App itself, its installations and the accounts. */
export function appRoutes(issueToken: (request: GitHubRequest) => { token: string; expires_at: Date }) {
  return {
    'GET /app': asApp(({ world }) =>
      ok({ ...integration(world, world.app), installations_count: world.installations.size }),
    ),
    'GET /app/installations': asApp((request) =>
      listOf(request, [...request.world.installations.values()], (installation) =>
        wholeInstallation(request.world, request.world.app, installation),
      ),
    ),
    'GET /app/installations/{installation_id}': asApp((request) => {
      const installation = found(request.world.installations.get(request.number('installation_id')))
      return ok(wholeInstallation(request.world, request.world.app, installation))
    }),
    'POST /app/installations/{installation_id}/access_tokens': asApp((request) => {
      const installation = found(request.world.installations.get(request.number('installation_id')))
      const permissions = request.body.permissions ?? APP_PERMISSIONS
      const body = { ...issueToken(request), permissions, repository_selection: installation.selection }
      return { status: 201, body }
    }),
    'GET /app/hook/config': asApp(({ world }) =>
      ok({ content_type: 'json', insecure_ssl: '0', secret: '********', url: world.deliveries.url ?? '' }),
    ),
    'POST /app-manifests/{code}/conversions': convertManifest,
    'GET /installation/repositories': installationRepositories,
    'GET /rate_limit': () => ok(rateLimits()),
    'GET /users/{username}': (request) =>
      ok(publicUser(request.world, found(request.world.findAccount(request.text('username'))))),
  } satisfies Partial<Record<OperationName, Handler>>
}

function installationRepositories(request: GitHubRequest) {
  const { installation, world } = request
  const { bulk } = world
  const repositories =
    bulk?.installation === installation
      ? Array.from({ length: bulk.sizes.repositories }, (_, index) => index + 1)
      : world.repositories.filter((repository) => installation.covers(repository)).map(({ id }) => id)
  const { items, headers } = pageOf(request, repositories, (id) =>
    wholeRepository(world, found(world.repositoryOfId(id))),
  )
  return ok(
    { total_count: repositories.length, repository_selection: installation.selection, repositories: items },
    headers,
  )
}

/** A code is good for one use. It gives the credentials of a new App. */
function convertManifest(request: GitHubRequest) {
  const { world } = request
  const code = request.text('code')
  const manifest = found(world.manifestCodes.get(code)) as { name?: string }
  world.manifestCodes.delete(code)
  const app = integration(world, { ...world.app, name: manifest.name ?? world.app.name })
  const secrets = {
    client_id: app.client_id,
    client_secret: randomUUID().replaceAll('-', ''),
    webhook_secret: world.app.webhookSecret,
    pem: world.app.privateKey,
  }
  return { status: 201, body: { ...app, permissions: APP_PERMISSIONS, events: APP_EVENTS, ...secrets } }
}

function rateLimits() {
  const rate = { limit: 5000, used: 0, remaining: 5000, reset: Math.floor(Date.now() / 1000) + 3600 }
  return { resources: { core: rate, search: rate, graphql: rate }, rate }
}
