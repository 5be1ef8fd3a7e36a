import { Navigate, useParams } from '@tanstack/react-router'
import { client } from '../api/client.ts'
import { pages } from '../page/pages.ts'
import { FindOrganization } from '../shell/find-organization.tsx'

/** Opens a deployment that gates and comments on code hosts link to. */
export function FindDeployment() {
  const { id } = useParams({ from: '/signed-in/deployments/$id' })
  return (
    <FindOrganization
      of="deployment"
      id={id}
      read={(org) => client.GET('/app/api/orgs/{org}/deployments/{id}', { params: { path: { org, id } } })}
    >
      {(org) => <Navigate {...pages.deployment(org, id)} replace />}
    </FindOrganization>
  )
}
