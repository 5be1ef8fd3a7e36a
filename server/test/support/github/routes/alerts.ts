import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { dismissAlert, reopenAlert } from '../../hosts/stories/alerts.ts'
import type { Alert, AlertType } from '../../hosts/types.ts'
import type { OperationName } from '../described.ts'
import { alertObject, secretLocation } from '../objects/alert.ts'
import { cursorList, listOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'

/** The alerts of the three kinds. */
export const alertRoutes = {
  'GET /repos/{owner}/{repo}/code-scanning/alerts': (request) =>
    listOf(request, alertsOf(request, 'code_scanning'), (alert) => alertObject(request.world, alert)),
  'GET /repos/{owner}/{repo}/dependabot/alerts': (request) =>
    cursorList(request, alertsOf(request, 'dependabot'), {
      parameter: 'after',
      show: (alert) => alertObject(request.world, alert),
    }),
  'GET /repos/{owner}/{repo}/secret-scanning/alerts': (request) => {
    const hide = request.query.get('hide_secret') === 'true'
    return listOf(request, alertsOf(request, 'secret_scanning'), (alert) => {
      const { secret, ...rest } = alertObject(request.world, alert)
      return hide ? rest : { ...rest, secret }
    })
  },
  'GET /repos/{owner}/{repo}/code-scanning/alerts/{alert_number}': read('code_scanning'),
  'GET /repos/{owner}/{repo}/dependabot/alerts/{alert_number}': read('dependabot'),
  'GET /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}': read('secret_scanning'),
  'PATCH /repos/{owner}/{repo}/code-scanning/alerts/{alert_number}': change('code_scanning', 'dismissed'),
  'PATCH /repos/{owner}/{repo}/dependabot/alerts/{alert_number}': change('dependabot', 'dismissed'),
  'PATCH /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}': change('secret_scanning', 'resolution'),
  'GET /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}/locations': (request) =>
    listOf(request, [alertOf(request, 'secret_scanning')], (alert) => secretLocation(request.world, alert)),
} satisfies Partial<Record<OperationName, Handler>>

function alertsOf({ repository, query }: GitHubRequest, type: AlertType): Alert[] {
  const state = query.get('state')
  const key = query.get('sort') === 'updated' ? 'updated_at' : 'created_at'
  const sign = (query.get('direction') ?? 'desc') === 'desc' ? -1 : 1
  return repository.alerts
    .filter((alert) => alert.type === type && (state === null || stateOf(alert) === state))
    .sort((one, other) => sign * (one[key].getTime() - other[key].getTime() || one.number - other.number))
}

function stateOf({ type, state }: Alert): string {
  return type === 'secret_scanning' && state !== 'open' ? 'resolved' : state
}

function alertOf(request: GitHubRequest, type: AlertType): Alert {
  const number = request.number('alert_number')
  return found(request.repository.alerts.find((alert) => alert.type === type && alert.number === number))
}

function read(type: AlertType): Handler {
  return (request) => ok(alertObject(request.world, alertOf(request, type)))
}

/** Dismisses or reopens an alert in the name of our App. */
function change(type: AlertType, prefix: 'dismissed' | 'resolution'): Handler {
  return (request) => {
    const { world, body } = request
    const alert = alertOf(request, type)
    const by = world.program
    const reason = body[prefix === 'dismissed' ? 'dismissed_reason' : 'resolution'] as string | undefined
    if (body.state === 'open') {
      if (alert.state === 'dismissed') reopenAlert(world, alert, by)
    } else {
      if (typeof reason !== 'string') throw new HttpError(422, 'Missing reason')
      if (alert.state === 'fixed') throw new HttpError(409, 'The alert is fixed')
      const comment = (body[`${prefix}_comment`] as string | undefined) ?? null
      dismissAlert(world, alert, by, { reason, comment })
    }
    return ok(alertObject(world, alert))
  }
}
