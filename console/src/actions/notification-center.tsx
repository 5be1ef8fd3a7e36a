import { lazy, Suspense, useEffect } from 'react'
import { loadNotifications, shownNotifications } from './notify.tsx'

const Notifications = lazy(async () => ({ default: (await loadNotifications()).Notifications }))

/**
 * The corner in which notifications appear. What it needs is loaded when somebody does something for
 * the first time, and not with the first page: what will have to be said can be that the server is lost.
 */
export function NotificationCenter() {
  const isNeeded = shownNotifications.use()
  useEffect(() => {
    const once = { once: true, passive: true }
    const load = () => void loadNotifications().catch(() => {})
    addEventListener('pointerdown', load, once)
    addEventListener('keydown', load, once)
    return () => {
      removeEventListener('pointerdown', load)
      removeEventListener('keydown', load)
    }
  }, [])
  return (
    isNeeded && (
      <Suspense>
        <Notifications position="bottom-right" />
      </Suspense>
    )
  )
}
