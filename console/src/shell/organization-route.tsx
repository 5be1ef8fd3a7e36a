import { createRoute, redirect } from '@tanstack/react-router'
import { asApiError } from '../api/api-error.ts'
import { sessionQuery } from '../api/session.ts'
import { OrganizationShell } from './organization-shell.tsx'
import { NotFound, rootRoute } from './root-route.tsx'
import { SignedInFrame } from './signed-in-frame.tsx'

/** Everything that needs a session. Others are sent to the sign-in page, and come back afterwards. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery).catch((error) => {
      if (asApiError(error)?.code !== 'not_signed_in') throw error
      throw redirect({ to: '/sign-in', search: { next: location.href } })
    })
    return { session: session.data }
  },
  component: SignedInFrame,
})

/** The pages of one organization: /orgs/{slug}/…, as in the API. */
export const organizationRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'orgs/$org',
  component: OrganizationShell,
  notFoundComponent: NotFound,
})
