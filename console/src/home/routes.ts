import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { choice, text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { PROVIDERS } from '../page/names.ts'
import { withoutHost } from '../page/repository.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import {
  brokenQueries,
  chartQueries,
  DEFAULT_PERIOD,
  firstStepQueries,
  PERIODS,
  repositoryQueries,
  urgentQueries,
  waitingQuery,
} from './facts/queries.ts'

export const homeRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: '/',
    validateSearch: v.object({ days: v.fallback(v.optional(v.picklist(PERIODS)), undefined) }),
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { org } = loader.params
      const { days = DEFAULT_PERIOD } = loader.deps
      const parts = [firstStepQueries(org), brokenQueries(org), urgentQueries(org), chartQueries(org, days)]
      readAhead(loader, [waitingQuery(org), ...parts.flatMap((part) => Object.values(part))])
    },
    component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'repository',
    validateSearch: v.object({ name: text(300), provider: choice(PROVIDERS) }),
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { name, provider } = loader.deps
      if (name !== undefined)
        readAhead(loader, Object.values(repositoryQueries(loader.params.org, withoutHost(name), provider)))
    },
    component: lazyPage(() => import('./repository/repository-page.tsx'), 'RepositoryPage'),
  }),
] as const
