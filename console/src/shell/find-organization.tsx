import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useSession } from '../api/session.ts'
import { Page } from '../page/page.tsx'
import { LineSkeleton, QueryView } from '../page/query-view.tsx'

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
export function FindOrganization({ of, id, read, children }: FindOrganizationProps) {
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
