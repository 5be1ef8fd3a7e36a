import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api } from './client.ts'

/** Who is signed in, with their organizations and permissions. */
export const sessionQuery = api.queryOptions('get', '/app/api/session', {}, { staleTime: 60_000 })

export function useSession() {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('This component is shown only to people who are signed in.')
  return data.data
}

export type Session = ReturnType<typeof useSession>
export type Organization = Session['organizations'][number]
export type Permission = Organization['permissions'][number]

/** The organization of the address, in which the user has a role. */
export function useOrganization(): Organization {
  const { org } = useParams({ strict: false })
  const organization = useSession().organizations.find(({ slug }) => slug === org)
  if (organization === undefined) throw new Error(`You are not a member of the organization ${org}.`)
  return organization
}

/** Whether the role of the user has the permission, in the organization with this name. */
export function hasPermission({ organizations }: Session, org: string, permission: Permission): boolean {
  return organizations.find(({ slug }) => slug === org)?.permissions.includes(permission) ?? false
}

/** Whether the role of the user has the permission, in the organization of the address. */
export function usePermission(permission: Permission): boolean {
  return useOrganization().permissions.includes(permission)
}
