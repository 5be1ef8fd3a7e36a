import { createRoute } from '@tanstack/react-router'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import {
  ChangeSearch,
  changeQuery,
  changesQuery,
  LineageSearch,
  lineagesQuery,
  signingKeysQuery,
  statementQuery,
} from './facts/queries.ts'

export const provenanceRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance',
    validateSearch: ChangeSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [changesQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./changes/changes-page.tsx'), 'ChangesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/changes/$id',
    loader: (loader) => readAhead(loader, [changeQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./change/change-page.tsx'), 'ChangePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/lineage',
    validateSearch: LineageSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [lineagesQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./lineages/lineages-page.tsx'), 'LineagesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/lineage/$id',
    loader: (loader) => readAhead(loader, [statementQuery(loader.params.org, 'lineage', loader.params.id)]),
    component: lazyPage(() => import('./lineage/lineage-page.tsx'), 'LineagePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/keys',
    loader: (loader) => readAhead(loader, [signingKeysQuery(loader.params.org)]),
    component: lazyPage(() => import('./keys/keys-page.tsx'), 'KeysPage'),
  }),
] as const
