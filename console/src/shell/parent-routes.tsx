import { Anchor } from '@mantine/core'
import { IconError404 } from '@tabler/icons-react'
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  type ErrorComponentProps,
  Outlet,
  redirect,
  useRouter,
} from '@tanstack/react-router'
import { useEffect } from 'react'
import { ConfirmIdentityDialog } from '../actions/confirm-identity-dialog.tsx'
import { listenToKeys } from '../actions/shortcuts.ts'
import { asApiError } from '../api/api-error.ts'
import { sessionQuery } from '../api/session.ts'
import { ScriptError, ScriptProblem } from '../page/lazy-part.tsx'
import { Page } from '../page/page.tsx'
import { Empty, Problem } from '../page/states.tsx'
import { PageAnnouncer } from './app-frame.tsx'
import { OrganizationShell } from './organization-shell.tsx'
import { ShellDialogs } from './shell-dialogs.tsx'
import { SignedOutNotice } from './signed-out.tsx'

/** The route above all others. */
export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
  errorComponent: PageProblem,
})

/** A page that could not be loaded or shown. It takes the place of the page inside the frame. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return (
    <Page title="Page not shown">
      {error instanceof ScriptError ? (
        <ScriptProblem title="This page could not be loaded" />
      ) : (
        <Problem error={error} title="This page could not be shown" retry={retry} />
      )}
    </Page>
  )
}

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

/** No page has this address. */
function NotFound() {
  useEffect(() => {
    document.title = 'Page not found · Shiplock'
  }, [])
  return (
    <Empty icon={IconError404} title="Page not found" level={1}>
      Check the address, or go back to{' '}
      <Anchor href="/" underline="always">
        Home
      </Anchor>
      .
    </Empty>
  )
}

/** What every page of somebody who is signed in may need: dialogs, keys, announcements. */
function SignedInFrame() {
  useEffect(listenToKeys, [])
  return (
    <>
      <Outlet />
      <ConfirmIdentityDialog />
      <ShellDialogs />
      <SignedOutNotice />
      <PageAnnouncer />
    </>
  )
}
