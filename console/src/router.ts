import type { QueryClient } from '@tanstack/react-query'
import { type AnyRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { accountRoutes } from './account/routes.ts'
import { complianceRoutes } from './compliance/routes.ts'
import { deploymentLinkRoute, deploymentRoutes } from './deployments/routes.ts'
import { homeRoutes } from './home/routes.ts'
import { inventoryRoutes, vulnerabilityLinkRoute } from './inventory/routes.ts'
import { pages } from './page/pages.ts'
import { provenanceRoutes } from './provenance/routes.ts'
import { runLinkRoutes, runRoutes } from './runs/routes.ts'
import { securityRoutes } from './security/routes.ts'
import { uploadRoutes } from './security/upload-routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { lastOrganization } from './shell/navigation.ts'
import { organizationRoute, PageProblem, rootRoute, signedInRoute } from './shell/parent-routes.tsx'
import { signInRoutes } from './sign-in/routes.ts'

const startRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    const last = lastOrganization(context.session.organizations)
    throw last ? redirect(pages.home(last.slug)) : redirect({ to: '/account' })
  },
})

const routes = rootRoute.addChildren([
  ...signInRoutes,
  signedInRoute.addChildren([
    startRoute,
    ...accountRoutes,
    ...runLinkRoutes,
    deploymentLinkRoute,
    vulnerabilityLinkRoute,
    organizationRoute.addChildren([
      ...homeRoutes,
      ...runRoutes,
      ...deploymentRoutes,
      ...securityRoutes,
      ...uploadRoutes,
      ...inventoryRoutes,
      ...complianceRoutes,
      ...provenanceRoutes,
      ...settingsRoutes,
    ]),
  ]),
])

export function createConsoleRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree: routes,
    context: { queries },
    defaultPreload: 'intent',
    defaultErrorComponent: PageProblem,
    scrollRestoration: true,
    // Pages send their search to the API, which refuses what it does not know.
    search: { strict: true },
  })
  // The router loads a page after it knows who is signed in. The first page need not wait for that.
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route: AnyRoute = router.routesById[routeId as keyof typeof router.routesById]
    // A failure is shown when the router asks for the page.
    router.loadRouteChunk(route)?.catch(() => {})
  }
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
