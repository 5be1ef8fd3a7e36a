import { Navigate, useParams } from '@tanstack/react-router'
import { client } from '../api/client.ts'
import { pages } from '../page/pages.ts'
import { FindOrganization } from '../shell/find-organization.tsx'

/** Opens a run, or a report of it, that CI jobs link to. */
export function FindRun() {
  const { id = '', report } = useParams({ strict: false })
  return (
    <FindOrganization
      of="run"
      id={id}
      read={(org) => client.GET('/app/api/orgs/{org}/runs/{id}', { params: { path: { org, id } } })}
    >
      {(org) => <Navigate {...pages.run(org, id)} search={{ report }} replace />}
    </FindOrganization>
  )
}
