import '@fontsource-variable/inter'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { NotificationCenter } from './actions/notify.tsx'
import { sessionEndedInAct } from './api/client.ts'
import { createQueryClient } from './api/queries.ts'
import { createConsoleRouter } from './router.ts'
import { hasUnsentText } from './shell/signed-out.tsx'
import { theme } from './theme.ts'

const NONCE = document.querySelector('meta[property=csp-nonce]')?.getAttribute('content') ?? ''
// Dialogs add a style that keeps the page behind them from scrolling. Their library looks for it here.
Object.assign(globalThis, { __webpack_nonce__: NONCE })

const queries = createQueryClient(() => {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in') return
  if (hasUnsentText()) sessionEndedInAct.set(true)
  if (!sessionEndedInAct.get()) void router.navigate({ to: '/sign-in', search: { next: href } })
})
const router = createConsoleRouter(queries)

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => NONCE}>
      <QueryClientProvider client={queries}>
        <NotificationCenter />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
