import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { client } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { Page } from '../page/page.tsx'
import { pages } from '../page/pages.ts'
import { LineSkeleton, QueryView } from '../page/states.tsx'

type FindOrganizationProps = {
  /** What is looked for: "run". */
  of: string
  id: string
  /** Throws unless the organization has it. */
  read: (org: string) => Promise<unknown>
  /** Shown when it is found: a `<Navigate>`. */
  children: (org: string) => ReactNode
}

/**
 * Opens an object by an address without its organization, as CI jobs and comments on code hosts
 * link to it. The first organization of the user that has the object is its own.
 */
function FindOrganization({ of, id, read, children }: FindOrganizationProps) {
  const { organizations } = useSession()
  const query = useQuery({
    queryKey: ['organization of', of, id],
    queryFn: async () => {
      const found = await Promise.allSettled(organizations.map(({ slug }) => read(slug).then(() => slug)))
      const first = found.find((result) => result.status === 'fulfilled')
      if (first !== undefined) return first.value
      throw found[0]?.status === 'rejected' ? found[0].reason : new Error('no organization')
    },
  })
  if (query.data !== undefined) return children(query.data)
  return (
    <Page title={`${of.charAt(0).toUpperCase()}${of.slice(1)}`}>
      <QueryView query={query} of={of} skeleton={<LineSkeleton lines={5} />}>
        {() => null}
      </QueryView>
    </Page>
  )
}

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
