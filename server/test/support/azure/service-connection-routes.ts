import { found } from '../hosts/http-error.ts'
import { ok } from '../hosts/rest-request.ts'
import { type AzureRequest, type AzureRoutes, list, organizationOf, projectOf } from './requests.ts'
import type { AzureState, ServiceConnection } from './state.ts'

const ENDPOINTS = '_apis/serviceendpoint/endpoints'

/** Service connections. Their passwords are never shown. */
export function serviceConnectionRoutes(state: AzureState): AzureRoutes {
  return {
    [`GET /{organization}/{project}/${ENDPOINTS}`]: (request) => {
      const project = projectOf(state, request)
      return list(state.serviceConnections.filter((one) => one.project === project).map(shownOf))
    },
    [`GET /{organization}/{project}/${ENDPOINTS}/{endpointId}`]: (request) => ok(shownOf(connectionOf(state, request))),
    [`POST /{organization}/${ENDPOINTS}`]: (request) => {
      const made = { id: state.world.newIds().uuid, ...fieldsOf(state, request) }
      state.serviceConnections.push(made)
      return ok(shownOf(made))
    },
    [`PUT /{organization}/${ENDPOINTS}/{endpointId}`]: (request) => {
      const known = connectionOf(state, request)
      Object.assign(known, fieldsOf(state, request))
      return ok(shownOf(known))
    },
    [`DELETE /{organization}/${ENDPOINTS}/{endpointId}`]: (request) => {
      state.serviceConnections.splice(state.serviceConnections.indexOf(connectionOf(state, request)), 1)
      return { status: 200 }
    },
  }
}

function connectionOf(state: AzureState, request: AzureRequest): ServiceConnection {
  const organization = organizationOf(state, request)
  const own = state.serviceConnections.filter(({ project }) => project.owner === organization)
  return found(own.find(({ id }) => id === request.params.endpointId))
}

function fieldsOf(state: AzureState, request: AzureRequest): Omit<ServiceConnection, 'id'> {
  const { name, type, url, description, authorization, serviceEndpointProjectReferences: references } = request.body
  const projects = state.projectsOf(organizationOf(state, request))
  const project = found(projects.find(({ uuid }) => uuid === references[0].projectReference.id))
  return { project, ...authorization.parameters, shown: { name, type, url, description } }
}

function shownOf({ id, shown, username }: ServiceConnection) {
  const authorization = { scheme: 'UsernamePassword', parameters: { username } }
  return { ...shown, id, authorization, isShared: false, isReady: true }
}
