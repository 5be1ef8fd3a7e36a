import { found, HttpError } from '../hosts/http-error.ts'
import { ok } from '../hosts/rest-request.ts'
import { dismissAlert, reopenAlert } from '../hosts/stories/alerts.ts'
import type { Alert } from '../hosts/types.ts'
import { identity, repository } from './objects.ts'
import { type AzureRequest, type AzureRoutes, list, organizationOf, page, repositoryOf } from './requests.ts'
import { alert } from './rule-objects.ts'
import type { AzureState } from './state.ts'

const TOKEN_SECONDS = 3600
const ALERTS = '/{organization}/{project}/_apis/alert/repositories/{repository}/alerts'

/** Signing in, organizations, their repositories, and Advanced Security. */
export function accountRoutes(state: AzureState): AzureRoutes {
  return {
    'POST /{tenant}/oauth2/v2.0/token': ({ body }) => {
      const access_token = state.credentials.issue(body.client_id, body.client_secret)
      return ok({ token_type: 'Bearer', expires_in: TOKEN_SECONDS, access_token })
    },
    'GET /_apis/resourceAreas/{areaId}': ({ params, query }) => {
      const organization = state.world.findAccount(query.get('hostId') ?? '')
      const locationUrl = organization ? `${state.url}/${encodeURIComponent(organization.login)}/` : null
      return ok({ id: params.areaId, name: 'core', locationUrl })
    },
    'GET /{organization}/_apis/connectionData': (request) => {
      const { uuid } = organizationOf(state, request)
      return ok({ authenticatedUser: identity(state, state.world.program), instanceId: uuid, deploymentType: 'hosted' })
    },
    'GET /{organization}/_apis/git/repositories': (request) => {
      const all = state.world.repositoriesOf(organizationOf(state, request))
      return list(all.map((one) => repository(state, one)))
    },
    [`GET ${ALERTS}`]: (request) =>
      page(
        listAlerts(state, request).map((one) => alert(state, one)),
        request,
      ),
    [`GET ${ALERTS}/{alertId}`]: (request) => ok(alert(state, alertOf(state, request))),
    [`PATCH ${ALERTS}/{alertId}`]: (request) => {
      const one = alertOf(state, request)
      const { state: word, dismissedReason: reason, dismissedComment: comment = null } = request.body
      if (word === 'active') reopenAlert(state.world, one, state.world.program)
      else dismissAlert(state.world, one, state.world.program, { reason: REASONS[reason] ?? 'wont_fix', comment })
      return ok(alert(state, one))
    },
  }
}

const REASONS: Readonly<Record<string, string>> = {
  falsePositive: 'false_positive',
  notDistributed: 'not_used',
  fixed: 'revoked',
}

/**
 * "Alerts - List" (Azure DevOps REST API 7.2): `criteria.confidenceLevels`: "Both `high` and `other`
 * must be specified to get alerts of all confidence. Default to high. Only applicable for secret
 * alerts." `criteria.onlyDefaultBranch`: "only return alerts found on the default branch".
 */
function listAlerts(state: AzureState, request: AzureRequest): Alert[] {
  const { query } = request
  const since = new Date(query.get('criteria.modifiedSince') ?? 0)
  const type = query.get('criteria.alertType')
  const ids = query.get('criteria.alertIds')?.split(',')
  const levels = (query.get('criteria.confidenceLevels') ?? 'high').split(',')
  const isOnDefault = ({ details, repository: { default_branch } }: Alert) =>
    query.get('criteria.onlyDefaultBranch') !== 'true' || details.ref === `refs/heads/${default_branch}`
  return alertsOf(state, request)
    .filter((one) => one.type !== 'secret_scanning' || levels.includes(confidenceOf(state, one)))
    .filter((one) => isOnDefault(one) && (ids === undefined || ids.includes(String(one.id))))
    .filter((one) => one.updated_at >= since && (type === null || alert(state, one).alertType === type))
    .sort((one, other) => other.id - one.id)
}

function confidenceOf({ unsure }: AzureState, alert: Alert): string {
  return unsure.has(alert) ? 'other' : 'high'
}

function alertsOf(state: AzureState, request: AzureRequest): Alert[] {
  const repo = repositoryOf(state, request)
  if (state.withoutSecurity.has(repo.owner)) throw new HttpError(403, 'Advanced Security is not enabled')
  return repo.alerts
}

function alertOf(state: AzureState, request: AzureRequest): Alert {
  return found(alertsOf(state, request).find(({ id }) => String(id) === request.params.alertId))
}
