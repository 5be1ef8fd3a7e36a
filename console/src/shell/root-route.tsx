import { Anchor } from '@mantine/core'
import { IconError404 } from '@tabler/icons-react'
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Empty, Problem } from '../page/states.tsx'

/** The route above all others. */
export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
  errorComponent: ({ error, reset }) => <Problem error={error} title="This page could not be shown" retry={reset} />,
})

/** No page has this address. */
export function NotFound() {
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
