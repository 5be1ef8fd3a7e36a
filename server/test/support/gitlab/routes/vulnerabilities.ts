import { found } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import { dismissAlert, reopenAlert } from '../../hosts/stories/alerts.ts'
import type { Alert } from '../../hosts/types.ts'
import { type Gitlab, type GitlabRequest, type GitlabRoutes, page, projectOf, requireUltimate } from '../gitlab.ts'
import { vulnerabilityShape } from '../shapes/vulnerabilities.ts'

export function vulnerabilityRoutes(gitlab: Gitlab): GitlabRoutes {
  const { world } = gitlab
  return {
    'GET /api/v4/projects/{id}/vulnerabilities': (request) => {
      requireUltimate(gitlab)
      const { alerts } = projectOf(gitlab, request)
      return page(
        request,
        alerts.map((alert) => vulnerabilityShape(gitlab, alert)),
      )
    },
    'GET /api/v4/vulnerabilities/{id}': (request) => {
      requireUltimate(gitlab)
      return ok(vulnerabilityShape(gitlab, alertOf(gitlab, request, request.params.id as string)))
    },
    'POST /api/graphql': (request) => {
      requireUltimate(gitlab)
      const { query, variables } = request.body as { query: string; variables: Record<string, string> }
      if (query.startsWith('query')) return ok({ data: dismissalsOf(gitlab, request, query) })
      const alert = alertOf(gitlab, request, variables.id?.split('/').at(-1) ?? '')
      if (query.includes('vulnerabilityDismiss(')) {
        const { reason = '', comment = null } = variables
        if (alert.state !== 'dismissed')
          dismissAlert(world, alert, world.program, { reason: reason.toLowerCase(), comment })
      } else if (alert.state === 'dismissed') reopenAlert(world, alert, world.program)
      return ok({ data: { result: { errors: [] } } })
    },
  }
}

function dismissalsOf(gitlab: Gitlab, request: GitlabRequest, query: string): Record<string, unknown> {
  const ids = [...query.matchAll(/v(\d+): vulnerability\(id: "gid:\/\/gitlab\/Vulnerability\/\1"\)/g)]
  return Object.fromEntries(
    ids.map(([, id = '']) => {
      const { dismissal } = alertOf(gitlab, request, id)
      const reason = dismissal?.reason.toUpperCase() ?? null
      return [`v${id}`, { dismissalReason: reason, stateComment: dismissal?.comment ?? null }]
    }),
  )
}

function alertOf({ world }: Gitlab, { caller }: GitlabRequest, id: string): Alert {
  const alerts = world.repositoriesOf(caller).flatMap((repository) => repository.alerts)
  return found(alerts.find((alert) => String(alert.id) === id))
}
