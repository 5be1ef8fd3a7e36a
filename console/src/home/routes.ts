import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import {
  brokenQueries,
  chartQueries,
  DEFAULT_PERIOD,
  firstStepQueries,
  PERIODS,
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
] as const
